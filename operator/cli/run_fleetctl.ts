/**
 * Runs one command line to its exit code.
 *
 * @module
 */
import { isFleetError } from "../../contracts/errors.ts";
import { FLEETCTL_PROBLEMS_MAX } from "../../contracts/limits.ts";
import type { ResourceKind } from "../../contracts/resource.ts";
import type { ArtifactInvocation } from "./artifacts/artifact_invocation.ts";
import { parseCommandLine } from "./command_line.ts";
import { applyCommand, ManifestError, readManifests } from "./commands/apply_command.ts";
import { artifactInspectCommand } from "./commands/artifact_inspect_command.ts";
import { artifactPushCommand } from "./commands/artifact_push_command.ts";
import { changeReleaseCommand } from "./commands/change_release_command.ts";
import { type CommandContext, note } from "./commands/command_context.ts";
import { deleteCommand } from "./commands/delete_command.ts";
import { deploymentDevicesCommand } from "./commands/deployment_devices_command.ts";
import { describeCommand } from "./commands/describe_command.ts";
import { getCommand } from "./commands/get_command.ts";
import { releaseDevicesCommand } from "./commands/release_devices_command.ts";
import { taskDevicesCommand } from "./commands/task_devices_command.ts";
import { taskRunCommand } from "./commands/task_run_command.ts";
import { watchCommand } from "./commands/watch_command.ts";
import type { ConnectionSettings } from "./connection/connection_settings.ts";
import { EXIT, type ExitCode } from "./exit_code.ts";
import { explainError } from "./explain_error.ts";
import type { FleetAccess } from "./fleet_access.ts";
import type { ConnectionFlags, FleetInvocation, Invocation } from "./invocation.ts";
import type { PlacedInput } from "./manifest/read_manifest.ts";
import { withProgress } from "./progress.ts";
import { printable } from "./render/printable.ts";
import { resourceName } from "./render/resource_list.ts";
import type { Terminal } from "./terminal.ts";

/** Told of each stored resource that cannot be read. */
export type OnMalformed = (kind: ResourceKind, name: string, problem: string) => void;

/** What a command line reaches of the outside. */
export interface FleetctlWorld {
  readonly terminal: Terminal;
  /** Text of `--version`. */
  readonly version: string;
  /** Reads a file that a person named, or the standard input for `-`. */
  readInput(file: string): Promise<Uint8Array>;
  /** Puts options, environment and configuration file together. @throws {FleetError} `E_USAGE`, `E_CONFIG` */
  resolveConnection(flags: ConnectionFlags): Promise<ConnectionSettings>;
  /** Connects. @throws {FleetError} as the bus does */
  openFleet(settings: ConnectionSettings, onMalformed: OnMalformed): Promise<FleetAccess>;
  /** The environment of the program. */
  environment(name: string): string | undefined;
  /** Aborts when a person or the system ends the program. */
  readonly signal: AbortSignal;
}

/**
 * Runs a command line.
 *
 * @param argv Arguments after the program's name
 * @param world The outside
 * @returns the exit code
 * @throws the reason of the signal, when it ends a command that is not over
 */
export async function runFleetctl(argv: readonly string[], world: FleetctlWorld): Promise<ExitCode> {
  const { terminal } = world;
  let settings: ConnectionSettings | undefined;
  try {
    const parsed = parseCommandLine(argv, world.version, terminal.width);
    if (parsed.kind === "text") {
      await terminal.out(parsed.text);
      return EXIT.ok;
    }
    if (parsed.kind === "usage") {
      await terminal.err(parsed.text);
      return EXIT.usage;
    }
    const { invocation } = parsed;
    if (isArtifactInvocation(invocation)) {
      return await endedBy(world.signal, dispatchArtifact(invocation, world));
    }
    // What can be told without a connection is told before there is one.
    const inputs = invocation.command === "apply"
      ? await endedBy(world.signal, readManifests(invocation.files, world.readInput))
      : [];
    settings = await endedBy(world.signal, world.resolveConnection(parsed.connection));
    return await withFleet(settings, world, (context) => {
      const work = dispatch(invocation, inputs, context, world.signal);
      // A watch ends by itself: for it an interrupt is the normal end.
      return invocation.command === "watch" ? work : endedBy(world.signal, work);
    });
  } catch (error) {
    world.signal.throwIfAborted();
    return await report(error, settings, terminal);
  }
}

function isArtifactInvocation(invocation: Invocation): invocation is ArtifactInvocation {
  return invocation.command === "artifact-push" || invocation.command === "artifact-inspect";
}

function dispatchArtifact(invocation: ArtifactInvocation, world: FleetctlWorld): Promise<ExitCode> {
  return invocation.command === "artifact-push"
    ? artifactPushCommand(invocation, world)
    : artifactInspectCommand(invocation, world);
}

async function withFleet(
  settings: ConnectionSettings,
  world: FleetctlWorld,
  command: (context: CommandContext) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { terminal, signal } = world;
  const malformed = new Map<string, string>();
  const onMalformed: OnMalformed = (kind, name, problem) => malformed.set(resourceName(kind, name), problem);
  const fleet = await withProgress(
    terminal,
    `connecting to ${settings.servers.join(", ")}`,
    () => endedBy(signal, world.openFleet(settings, onMalformed)),
  );
  try {
    return await command({ fleet, terminal });
  } finally {
    for (const [name, problem] of [...malformed].slice(0, FLEETCTL_PROBLEMS_MAX)) {
      await note(terminal, `warning: ${name} cannot be read and is left out: ${printable(problem)}`);
    }
    const more = malformed.size - FLEETCTL_PROBLEMS_MAX;
    if (more > 0) await note(terminal, `warning: and ${more} more`);
    // Whoever interrupts does not wait for a server that does not answer; the end of the process closes as well.
    if (!signal.aborted) await fleet.close();
  }
}

/** The work, unless the signal comes first: then its reason is thrown and the work is left to itself. */
async function endedBy<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const ended = Promise.withResolvers<never>();
  const onAbort = () => ended.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  work.catch(() => {});
  try {
    signal.throwIfAborted();
    return await Promise.race([work, ended.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function dispatch(
  invocation: FleetInvocation,
  inputs: readonly PlacedInput[],
  context: CommandContext,
  signal: AbortSignal,
): Promise<ExitCode> {
  switch (invocation.command) {
    case "apply":
      return await applyCommand(invocation, inputs, context);
    case "get":
      return await getCommand(invocation, context);
    case "watch":
      return await watchCommand(invocation, context, signal);
    case "describe":
      return await describeCommand(invocation, context);
    case "delete":
      return await deleteCommand(invocation, context);
    case "change-release":
      return await changeReleaseCommand(invocation, context);
    case "release-devices":
      return await releaseDevicesCommand(invocation, context);
    case "task-run":
      return await taskRunCommand(invocation, context);
    case "task-devices":
      return await taskDevicesCommand(invocation, context);
    case "deployment-devices":
      return await deploymentDevicesCommand(invocation, context);
  }
}

async function report(
  error: unknown,
  settings: ConnectionSettings | undefined,
  terminal: Terminal,
): Promise<ExitCode> {
  // A defect is reported with its place by whoever runs the program.
  if (!isFleetError(error)) throw error;
  if (error.code === "E_OUTPUT_CLOSED") return EXIT.outputClosed;
  const { message, hints, exitCode } = explainError(error, settings);
  const problems = error instanceof ManifestError ? error.problems : "";
  const lines = [`fleetctl: ${printable(message)}`, ...hints.map((hint) => `  ${printable(hint)}`)];
  await terminal.err(`${problems}${lines.join("\n")}\n`);
  return exitCode;
}
