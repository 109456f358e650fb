/**
 * `fleetctl describe`.
 *
 * @module
 */
import { deploymentDescription, renderDeployment } from "../deployments/describe_deployment.ts";
import { deviceDescription, renderDevice } from "../devices/describe_device.ts";
import { viewDevice } from "../devices/device_view.ts";
import { EXIT, type ExitCode } from "../exit_code.ts";
import type { Invocation } from "../invocation.ts";
import { releaseDescription, renderRelease } from "../releases/describe_release.ts";
import { printableJson } from "../render/printable.ts";
import { yamlText } from "../render/yaml_text.ts";
import { renderTask, taskDescription } from "../tasks/describe_task.ts";
import { type CommandContext, note } from "./command_context.ts";
import { missingText } from "./find_resources.ts";

type DescribeInvocation = Extract<Invocation, { command: "describe" }>;

/** A description as data, and how it is shown as text. */
interface Description {
  readonly data: unknown;
  readonly text: string;
}

/**
 * Describes resources one after the other.
 *
 * @param invocation What to describe
 * @param context Fleet and terminal
 */
export async function describeCommand(invocation: DescribeInvocation, context: CommandContext): Promise<ExitCode> {
  const { terminal } = context;
  const { kind, names, output } = invocation;
  const found: unknown[] = [];
  let exitCode: ExitCode = EXIT.ok;
  for (const [index, name] of names.entries()) {
    const description = await describe(invocation, name, context);
    if (description === null) {
      await note(terminal, await missingText(context, kind, name));
      exitCode = EXIT.notFound;
      continue;
    }
    if (output === "table") await terminal.out((index === 0 ? "" : "\n\n") + description.text);
    else found.push(description.data);
  }
  if (output === "json" && (found.length > 0 || names.length > 1)) {
    await terminal.out(printableJson(names.length === 1 ? found[0] : found));
  }
  if (output === "yaml") await terminal.out(found.map(yamlText).join("---\n"));
  return exitCode;
}

async function describe(
  { kind }: DescribeInvocation,
  name: string,
  { fleet, terminal: { paint } }: CommandContext,
): Promise<Description | null> {
  if (kind === "AgentRelease") {
    const release = await fleet.store.get(kind, name);
    if (release === null) return null;
    return { data: releaseDescription(release), text: renderRelease(release, await fleet.nowMs(), paint) };
  }
  if (kind === "FleetDeployment") {
    const deployment = await fleet.store.get(kind, name);
    if (deployment === null) return null;
    return {
      data: deploymentDescription(deployment),
      text: renderDeployment(deployment, await fleet.nowMs(), paint),
    };
  }
  if (kind === "TaskRun") {
    const task = await fleet.store.get(kind, name);
    if (task === null) return null;
    return { data: taskDescription(task), text: renderTask(task, await fleet.nowMs(), paint) };
  }
  const device = await fleet.store.get(kind, name);
  if (device === null) return null;
  const view = await viewDevice(fleet, device);
  return { data: deviceDescription(view), text: renderDevice(view, paint) };
}
