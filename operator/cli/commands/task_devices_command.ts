/**
 * `fleetctl task devices`: the list behind a count, from the frozen plan and what devices say.
 *
 * @module
 */
import type { Device } from "../../../contracts/device_resource.ts";
import type { TaskRun } from "../../../contracts/task_run.ts";
import type { TaskPlan } from "../../policy/task_plan_documents.ts";
import { type TaskTargetState, taskTargetState } from "../../policy/task_target_state.ts";
import { EXIT, type ExitCode } from "../exit_code.ts";
import type { TaskOnDevices, TaskTargetDocuments } from "../fleet_access.ts";
import type { Invocation, TaskPhaseName } from "../invocation.ts";
import { withProgress } from "../progress.ts";
import { printableJson } from "../render/printable.ts";
import { resourceNames } from "../render/resource_list.ts";
import { renderTable } from "../render/table.ts";
import { yamlText } from "../render/yaml_text.ts";
import { taskTargetColumns, type TaskTargetRow } from "../tasks/task_target_table.ts";
import { type CommandContext, note } from "./command_context.ts";
import { isSelected, missingText } from "./find_resources.ts";
import { deviceRows } from "./get_command.ts";

type TaskDevicesInvocation = Extract<Invocation, { command: "task-devices" }>;

/** A target of a run. */
export interface TaskTarget extends TaskTargetDocuments {
  readonly deviceId: string;
  readonly isCanary: boolean;
  /** Null where the store has no such device. */
  readonly device: Device | null;
  readonly state: TaskTargetState;
}

/**
 * The targets that a person asks for, in the order of the plan.
 *
 * @param run The run
 * @param plan Its frozen plan
 * @param found What stands in the buckets
 * @param devices All devices
 * @param invocation The count, a reason, and labels that the devices must have
 */
export function targetsOfRun(
  run: TaskRun,
  plan: TaskPlan,
  found: TaskOnDevices["found"],
  devices: readonly Device[],
  invocation: Pick<TaskDevicesInvocation, "phase" | "reason" | "selector">,
): TaskTarget[] {
  const byId = new Map(devices.map((device) => [device.metadata.name, device]));
  const expiresAtMs = Date.parse(plan.manifest.expiresAt);
  const target = (deviceId: string, isCanary: boolean): TaskTarget => {
    const documents = found.get(deviceId) ?? { hasIntent: false, status: { kind: "absent" } };
    const { hasIntent, status } = documents;
    const facts = { deviceId, runId: run.metadata.uid, expiresAtMs, hasIntent };
    const state = taskTargetState({ ...facts, status: status.kind === "value" ? status : null });
    return { deviceId, isCanary, device: byId.get(deviceId) ?? null, state, ...documents };
  };
  const all = [...plan.canaries.map((id) => target(id, true)), ...plan.others.map((id) => target(id, false))];
  const { phase, reason, selector } = invocation;
  return all.filter((target) => {
    if (!isBehind(target, phase, run)) return false;
    const { device, status } = target;
    if (reason !== undefined && (status.kind !== "value" || status.value.reason !== reason)) return false;
    return device === null ? Object.keys(selector).length === 0 : isSelected(device, selector);
  });
}

function isBehind({ isCanary, state }: TaskTarget, phase: TaskPhaseName, { status }: TaskRun): boolean {
  switch (phase) {
    case "targets":
      return true;
    case "canaries":
      return isCanary;
    case "released":
      return state !== "waiting";
    case "failed":
      if (state === "failed") return true;
      // A run that ended for its deadline counts everybody whom it has waited for in vain.
      if (status?.reason === "DeadlineExceeded") return state !== "succeeded";
      return status?.reason === "CanaryTimedOut" && isCanary && state !== "succeeded";
    default:
      return state === phase;
  }
}

/**
 * Lists the devices of a run.
 *
 * @param invocation Which run and count
 * @param context Fleet and terminal
 */
export async function taskDevicesCommand(
  invocation: TaskDevicesInvocation,
  context: CommandContext,
): Promise<ExitCode> {
  const { fleet, terminal } = context;
  const { name, phase, output } = invocation;
  const run = await fleet.store.get("TaskRun", name);
  if (run === null) {
    await note(terminal, await missingText(context, "TaskRun", name));
    return EXIT.notFound;
  }
  const { devices, found, plan, problem } = await withProgress(terminal, "reading devices", async () => ({
    devices: await fleet.store.list("Device"),
    ...await fleet.task(run.metadata.uid),
  }));
  if (plan === null) {
    await note(terminal, problem ?? `${name} has no frozen plan, and so no devices: fleetctl describe task ${name}`);
    return problem === undefined ? EXIT.ok : EXIT.error;
  }
  const targets = targetsOfRun(run, plan, found, devices, invocation);
  switch (output) {
    case "json":
      await terminal.out(printableJson({ task: name, uid: run.metadata.uid, items: targets.map(targetDocument) }));
      break;
    case "yaml":
      await terminal.out(targets.map(targetDocument).map(yamlText).join("---\n"));
      break;
    case "name":
      await terminal.out(resourceNames("Device", targets.map(({ deviceId }) => deviceId)));
      break;
    case "table":
      if (targets.length === 0) await note(terminal, `no device of ${name} is behind ${phase}`);
      else {
        const rows = await targetRows(targets, context);
        await terminal.out(renderTable(taskTargetColumns(await fleet.nowMs()), rows, terminal));
      }
  }
  return EXIT.ok;
}

/** A target for programs; a status that is not there or cannot be read is null. */
function targetDocument({ deviceId, hasIntent, isCanary, state, status }: TaskTarget) {
  const value = status.kind === "value" ? status.value : null;
  return { device: deviceId, canary: isCanary, state, hasIntent, status: value };
}

async function targetRows(targets: readonly TaskTarget[], context: CommandContext): Promise<TaskTargetRow[]> {
  const known = targets.flatMap(({ device }) => device === null ? [] : [device]);
  const heartbeats = new Map(
    (await deviceRows(known, context)).map(({ device, heartbeatAtMs }) => [device.metadata.name, heartbeatAtMs]),
  );
  return targets.map((target) => ({ ...target, heartbeatAtMs: heartbeats.get(target.deviceId) }));
}
