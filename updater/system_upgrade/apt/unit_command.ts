/**
 * Runs a command to its end in a transient unit, outside of the updater's own sandbox, which is too narrow for apt. The
 * unit has one fixed name: what an updater that was killed has left behind is ended by the next call.
 *
 * @module
 */
import { APT_OUTPUT_MAX_BYTES, SYSTEM_TOOL_TIMEOUT_MS } from "../../../contracts/limits.ts";
import { errorText } from "../../../contracts/errors.ts";
import type { Clock } from "../../../lib/deadline.ts";
import { outputLines } from "../../process/output_lines.ts";
import { runBounded } from "../../process/run_bounded.ts";
import { SYSTEM_TOOL_ENVIRONMENT, type SystemTool } from "../../systemd/system_tool.ts";
import { signalName } from "../../systemd/job_outcome.ts";
import { decodeUnitProperties, UNIT_PROPERTIES } from "../../systemd/unit_properties.ts";
import { APT_ENVIRONMENT, commandName, type CommandWords } from "./apt_commands.ts";
import type { CommandEnd } from "./command_report.ts";

/** The transient unit. */
export const STEP_UNIT = "fleet-system-upgrade-step.service";

/** How a command ended, with its standard output. */
export interface UnitCommandRun extends CommandEnd {
  readonly stdout: string;
  /** Whether it ran and ended with 0. */
  readonly succeeded: boolean;
}

/** Runs a command in a unit of its own; rejects only when the signal aborts. */
export type UnitCommand = (words: CommandWords, timeoutMs: number, signal: AbortSignal) => Promise<UnitCommandRun>;

/** What {@link unitCommand} works with. */
export interface UnitCommandOptions {
  readonly clock: Clock;
  readonly tool: SystemTool;
  /** Default {@link runBounded}, on this machine */
  readonly run?: typeof runBounded;
}

/** Time that systemd itself needs around the command, in ms. */
const MARGIN_MS = 2 * SYSTEM_TOOL_TIMEOUT_MS;

/**
 * Settings of every unit in which apt or dpkg runs.
 *
 * @param description What a person reads in `systemctl status`
 */
export function commonUnitArguments(unit: string, description: string): string[] {
  return [
    "--quiet",
    "--no-ask-password",
    `--unit=${unit}`,
    `--description=${description}`,
    "--property=Type=exec",
    // A device that runs out of memory must not lose dpkg first.
    "--property=OOMScoreAdjust=-500",
    "--property=OOMPolicy=continue",
    ...Object.entries(APT_ENVIRONMENT).map(([name, value]) => `--setenv=${name}=${value}`),
  ];
}

function unitArguments(words: CommandWords, timeoutMs: number): string[] {
  return [
    "--pipe",
    "--wait",
    ...commonUnitArguments(STEP_UNIT, "A step of a Harmony Fleet system upgrade"),
    "--property=KillMode=control-group",
    `--property=RuntimeMaxSec=${timeoutMs}ms`,
    "--property=TimeoutStopSec=10s",
    "--",
    ...words,
  ];
}

/**
 * A way to run commands in a transient unit.
 *
 * @param options Clock, systemd's programs
 */
export function unitCommand({ clock, tool, run = runBounded }: UnitCommandOptions): UnitCommand {
  const systemctl = (args: readonly string[], signal: AbortSignal) =>
    tool("systemctl", ["--no-ask-password", "--no-pager", ...args], SYSTEM_TOOL_TIMEOUT_MS, signal);
  // It ends the unit also when the updater itself is ending.
  const clear = async () => {
    const { signal } = new AbortController();
    await systemctl(["kill", "--signal=SIGKILL", STEP_UNIT], signal);
    await systemctl(["stop", STEP_UNIT], signal);
    await systemctl(["reset-failed", STEP_UNIT], signal);
  };
  return async (words, timeoutMs, signal) => {
    const command = commandName(words);
    await clear();
    try {
      const ended = await run({
        program: "systemd-run",
        args: unitArguments(words, timeoutMs),
        environment: SYSTEM_TOOL_ENVIRONMENT,
      }, { timeoutMs: timeoutMs + MARGIN_MS, maxOutputBytes: APT_OUTPUT_MAX_BYTES, clock, signal });
      signal.throwIfAborted();
      const stdout = new TextDecoder().decode(ended.stdout);
      const lines = [...outputLines(ended.stdout), ...outputLines(ended.stderr)];
      const { durationMs } = ended;
      const base = { command, stdout, lines, durationMs, succeeded: false };
      if (ended.end === "exit" && ended.exitCode === 0) return { ...base, succeeded: true, exitCode: 0 };
      if (ended.end === "timeout") return { ...base, timedOut: true };
      if (ended.end !== "exit") return { ...base, lines: [...lines, `${command} ended by ${ended.end}`] };
      // The exit code of systemd-run may be its own, also where the unit's process was killed at its bound.
      const shown = await systemctl(["show", STEP_UNIT, `--property=${UNIT_PROPERTIES.join(",")}`], signal);
      const unit = decodeUnitProperties(new TextDecoder().decode(shown.stdout));
      if (unit?.result === "timeout") return { ...base, timedOut: true };
      const killed = unit?.execCode === "killed" || unit?.execCode === "dumped";
      if (killed) return { ...base, signal: signalName(unit.execStatus) ?? "unknown" };
      return { ...base, ...(ended.exitCode === undefined ? {} : { exitCode: ended.exitCode }) };
    } catch (error) {
      signal.throwIfAborted();
      const said = errorText(error);
      return { command, stdout: "", lines: [`systemd-run cannot be started: ${said}`], succeeded: false };
    } finally {
      await clear();
    }
  };
}
