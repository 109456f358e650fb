/**
 * `fleetctl get`.
 *
 * @module
 */
import { HEARTBEATS_ONE_BY_ONE_MAX } from "../../../contracts/limits.ts";
import type { ResourceOf } from "../../stores/port.ts";
import { deploymentColumns } from "../deployments/deployment_table.ts";
import { deviceColumns, type DeviceRow } from "../devices/device_table.ts";
import { EXIT, type ExitCode } from "../exit_code.ts";
import type { Invocation } from "../invocation.ts";
import { KIND_TERMS } from "../kind_terms.ts";
import type { FleetctlResource } from "../manifest/manifest_input.ts";
import { withProgress } from "../progress.ts";
import { releaseColumns } from "../releases/release_table.ts";
import { resourceNames, resourcesJson, resourcesYaml } from "../render/resource_list.ts";
import { renderTable } from "../render/table.ts";
import { taskColumns } from "../tasks/task_table.ts";
import { type CommandContext, note } from "./command_context.ts";
import { findResources, missingText } from "./find_resources.ts";

type GetInvocation = Extract<Invocation, { command: "get" | "watch" }>;

/**
 * Lists resources.
 *
 * @param invocation What to list
 * @param context Fleet and terminal
 */
export async function getCommand(invocation: GetInvocation, context: CommandContext): Promise<ExitCode> {
  const { fleet, terminal } = context;
  const { kind, names, selector, output } = invocation;
  const { resources, missing } = await withProgress(
    terminal,
    "reading resources",
    () => findResources(fleet.store, { kind, names, selector }),
  );
  switch (output) {
    case "json":
      await terminal.out(resourcesJson(kind, resources, names.length === 1));
      break;
    case "yaml":
      await terminal.out(resourcesYaml(resources));
      break;
    case "name":
      await terminal.out(resourceNames(kind, resources.map(({ metadata }) => metadata.name)));
      break;
    case "table":
      await terminal.out(await table(resources, context));
  }
  for (const name of missing) await note(terminal, await missingText(context, kind, name));
  if (missing.length > 0) return EXIT.notFound;
  if (resources.length === 0 && output === "table") await note(terminal, emptyText(invocation));
  return EXIT.ok;
}

function emptyText({ kind, selector }: GetInvocation): string {
  const { many, none } = KIND_TERMS[kind];
  return Object.keys(selector).length > 0 ? `no ${many} have these labels` : none;
}

async function table(resources: readonly FleetctlResource[], { fleet, terminal }: CommandContext): Promise<string> {
  if (resources.length === 0) return "";
  const nowMs = await fleet.nowMs();
  // All are of the kind that was asked for, and the other lists are empty.
  const devices = resources.filter((resource) => resource.kind === "Device");
  const releases = resources.filter((resource) => resource.kind === "AgentRelease");
  const deployments = resources.filter((resource) => resource.kind === "FleetDeployment");
  if (releases.length > 0) return renderTable(releaseColumns(nowMs), releases, terminal);
  const tasks = resources.filter((resource) => resource.kind === "TaskRun");
  if (tasks.length > 0) return renderTable(taskColumns(nowMs), tasks, terminal);
  if (deployments.length > 0) return renderTable(deploymentColumns(nowMs), deployments, terminal);
  return renderTable(deviceColumns(nowMs), await deviceRows(devices, { fleet, terminal }), terminal);
}

/**
 * Devices with the times of their newest heartbeats, read from NATS.
 *
 * @param devices The devices
 * @param context Fleet and terminal
 */
export async function deviceRows(
  devices: readonly ResourceOf["Device"][],
  { fleet, terminal }: CommandContext,
): Promise<DeviceRow[]> {
  const ids = devices.map(({ metadata }) => metadata.name);
  const wanted = ids.length <= HEARTBEATS_ONE_BY_ONE_MAX ? ids : null;
  const { receivedAtMs, problem } = await withProgress(
    terminal,
    "reading heartbeats",
    () => fleet.heartbeatTimes(wanted),
  );
  if (problem !== undefined) await note(terminal, `heartbeats cannot be read, so SEEN stays empty: ${problem}`);
  return devices.map((device) => ({ device, heartbeatAtMs: receivedAtMs.get(device.metadata.name) }));
}
