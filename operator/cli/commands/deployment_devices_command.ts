/**
 * `fleetctl deployment devices`: the list behind a count, by the function that counts.
 *
 * @module
 */
import type { Device } from "../../../contracts/device_resource.ts";
import { type DeploymentTargetState, deploymentTargetState } from "../../policy/deployment_target.ts";
import { deploymentTargetColumns, type DeploymentTargetRow } from "../deployments/deployment_target_table.ts";
import { EXIT, type ExitCode } from "../exit_code.ts";
import type { DeploymentOnDevice } from "../fleet_access.ts";
import type { DeploymentPhaseName, Invocation, Selector } from "../invocation.ts";
import { withProgress } from "../progress.ts";
import { printableJson } from "../render/printable.ts";
import { resourceNames } from "../render/resource_list.ts";
import { renderTable } from "../render/table.ts";
import { yamlText } from "../render/yaml_text.ts";
import { type CommandContext, note } from "./command_context.ts";
import { isSelected, missingText } from "./find_resources.ts";
import { deviceRows } from "./get_command.ts";

type DeploymentDevicesInvocation = Extract<Invocation, { command: "deployment-devices" }>;

/** A target of a deployment. */
export interface DeploymentTarget {
  /** Null where the store has no such device. */
  readonly device: Device | null;
  readonly state: DeploymentTargetState;
  readonly on: DeploymentOnDevice;
}

/**
 * The targets that stand in a count: devices that were told to run the deployment.
 *
 * @param found What devices were told and say
 * @param devices All devices
 * @param generation Generation of the deployment
 * @param invocation The count, and labels that the devices must have
 */
export function targetsBehind(
  found: readonly DeploymentOnDevice[],
  devices: readonly Device[],
  generation: number,
  { phase, selector }: { readonly phase: DeploymentPhaseName; readonly selector: Selector },
): DeploymentTarget[] {
  const byId = new Map(devices.map((device) => [device.metadata.name, device]));
  return found.flatMap((on) => {
    if (on.told.kind === "absent") return [];
    const device = byId.get(on.deviceId) ?? null;
    if (device === null ? Object.keys(selector).length > 0 : !isSelected(device, selector)) return [];
    const told = on.told.kind === "value" ? on.told.value.generation : null;
    const state = deploymentTargetState(generation, told, on.status.kind === "value" ? on.status.value : null);
    return phase === "targets" || phase === state ? [{ device, state, on }] : [];
  });
}

/**
 * Lists the devices behind a count.
 *
 * @param invocation Which deployment and count
 * @param context Fleet and terminal
 */
export async function deploymentDevicesCommand(
  invocation: DeploymentDevicesInvocation,
  context: CommandContext,
): Promise<ExitCode> {
  const { fleet, terminal } = context;
  const { name, phase, output } = invocation;
  const deployment = await fleet.store.get("FleetDeployment", name);
  if (deployment === null) {
    await note(terminal, await missingText(context, "FleetDeployment", name));
    return EXIT.notFound;
  }
  const { generation, uid } = deployment.metadata;
  const { devices, found, problem } = await withProgress(terminal, "reading devices", async () => ({
    devices: await fleet.store.list("Device"),
    ...await fleet.deployments({ deploymentId: uid }),
  }));
  if (problem !== undefined) {
    await note(terminal, `what devices were told cannot be read: ${problem}`);
    return EXIT.error;
  }
  const targets = targetsBehind(found, devices, generation, invocation);
  switch (output) {
    case "json":
      await terminal.out(printableJson({ deployment: name, generation, items: targets.map(targetDocument) }));
      break;
    case "yaml":
      await terminal.out(targets.map(targetDocument).map(yamlText).join("---\n"));
      break;
    case "name":
      await terminal.out(resourceNames("Device", targets.map(({ on }) => on.deviceId)));
      break;
    case "table":
      if (targets.length === 0) {
        await note(terminal, `no device of ${name} is ${phase === "targets" ? "a target" : phase}`);
      } else {
        const rows = await targetRows(targets, context);
        await terminal.out(renderTable(deploymentTargetColumns(await fleet.nowMs()), rows, terminal));
      }
  }
  return EXIT.ok;
}

/** A target for programs; a document that is not there or cannot be read is null. */
function targetDocument({ on: { deviceId, status, told }, state }: DeploymentTarget) {
  return {
    device: deviceId,
    state,
    told: told.kind === "value" ? told.value.generation : null,
    status: status.kind === "value" ? status.value : null,
  };
}

async function targetRows(
  targets: readonly DeploymentTarget[],
  context: CommandContext,
): Promise<DeploymentTargetRow[]> {
  const known = targets.flatMap(({ device }) => device === null ? [] : [device]);
  const heartbeats = new Map(
    (await deviceRows(known, context)).map(({ device, heartbeatAtMs }) => [device.metadata.name, heartbeatAtMs]),
  );
  return targets.map(({ device, on, state }) => ({
    deviceId: on.deviceId,
    device,
    heartbeatAtMs: heartbeats.get(on.deviceId),
    state,
    status: on.status,
  }));
}
