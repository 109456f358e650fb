/**
 * `fleetctl release devices`: the list behind a count.
 *
 * @module
 */
import type { Device } from "../../../contracts/device_resource.ts";
import { type TargetState, targetState } from "../../policy/target_state.ts";
import { kebab, targetColumns } from "../devices/device_table.ts";
import { EXIT, type ExitCode } from "../exit_code.ts";
import type { Invocation, Selector, TargetPhase } from "../invocation.ts";
import { withProgress } from "../progress.ts";
import { resourceNames, resourcesJson, resourcesYaml } from "../render/resource_list.ts";
import { renderTable } from "../render/table.ts";
import { type CommandContext, note } from "./command_context.ts";
import { isSelected, missingText } from "./find_resources.ts";
import { deviceRows } from "./get_command.ts";

type ReleaseDevicesInvocation = Extract<Invocation, { command: "release-devices" }>;

/**
 * The devices that stand in a count of a release, by the function that counts them.
 *
 * @param devices All devices
 * @param release Name of the release
 * @param phase The count
 * @param selector Labels that they must have
 */
export function devicesBehind(
  devices: readonly Device[],
  release: string,
  phase: TargetPhase,
  selector: Selector,
): Device[] {
  return devices.filter((device) => {
    const { status } = device;
    if (status?.desiredRelease !== release || !isSelected(device, selector)) return false;
    const state: TargetState | undefined = targetState(status);
    return phase === "targets" || (state !== undefined && kebab(state) === phase);
  });
}

/**
 * Lists the devices behind a count.
 *
 * @param invocation Which release and count
 * @param context Fleet and terminal
 */
export async function releaseDevicesCommand(
  invocation: ReleaseDevicesInvocation,
  context: CommandContext,
): Promise<ExitCode> {
  const { fleet, terminal } = context;
  const { name, phase, selector, output } = invocation;
  if (await fleet.store.get("AgentRelease", name) === null) {
    await note(terminal, await missingText(context, "AgentRelease", name));
    return EXIT.notFound;
  }
  const all = await withProgress(terminal, "reading devices", () => fleet.store.list("Device"));
  const devices = devicesBehind(all, name, phase, selector);
  switch (output) {
    case "json":
      await terminal.out(resourcesJson("Device", devices, false));
      break;
    case "yaml":
      await terminal.out(resourcesYaml(devices));
      break;
    case "name":
      await terminal.out(resourceNames("Device", devices.map(({ metadata }) => metadata.name)));
      break;
    case "table":
      if (devices.length === 0) {
        await note(terminal, `no device of ${name} is ${phase === "targets" ? "a target" : phase}`);
      } else {
        const rows = await deviceRows(devices, context);
        await terminal.out(renderTable(targetColumns(await fleet.nowMs()), rows, terminal));
      }
  }
  return EXIT.ok;
}
