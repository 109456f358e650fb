/**
 * Runs systemd's own programs, bounded in time and output, in a language and format that do not depend on the machine.
 *
 * @module
 */
import { SYSTEM_TOOL_OUTPUT_MAX_BYTES } from "../../contracts/limits.ts";
import type { Clock } from "../../lib/deadline.ts";
import { lastLines } from "../process/output_lines.ts";
import { runBounded } from "../process/run_bounded.ts";

/** How a program ended. */
export interface ToolRun {
  readonly end: "exit" | "late" | "abandoned" | "broken";
  /** Only of `exit`. */
  readonly exitCode: number;
  readonly stdout: Uint8Array;
  /** What it said on standard error, as one line; for people. */
  readonly message: string;
}

/** Runs a program with its arguments; never throws. */
export type SystemTool = (
  program: "systemctl" | "journalctl" | "systemd-run" | "busctl",
  args: readonly string[],
  timeoutMs: number,
  signal: AbortSignal,
) => Promise<ToolRun>;

/** Environment of systemd's programs. */
export const SYSTEM_TOOL_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  LC_ALL: "C.UTF-8",
  SYSTEMD_COLORS: "0",
  SYSTEMD_PAGER: "",
  SYSTEMD_LOG_LEVEL: "notice",
};

/**
 * Runs systemd's programs as processes.
 *
 * @param clock For the time limits
 * @param run Default {@link runBounded}, on this machine
 */
export function systemTool(clock: Clock, run: typeof runBounded = runBounded): SystemTool {
  return async (program, args, timeoutMs, signal) => {
    const none = { exitCode: -1, stdout: new Uint8Array() };
    if (signal.aborted) return { ...none, end: "abandoned", message: "the updater is stopping" };
    try {
      const ended = await run({ program, args, environment: SYSTEM_TOOL_ENVIRONMENT }, {
        timeoutMs,
        maxOutputBytes: SYSTEM_TOOL_OUTPUT_MAX_BYTES,
        clock,
        signal,
      });
      const said = lastLines(ended.stderr).join("; ");
      const message = said === "" ? `${program} ended with ${ended.exitCode ?? ended.end}` : said;
      const { stdout } = ended;
      if (ended.end === "exit") return { end: "exit", exitCode: ended.exitCode ?? -1, stdout, message };
      if (ended.end === "timeout") return { ...none, end: "late", stdout, message: `not over within ${timeoutMs} ms` };
      if (ended.end === "canceled") return { ...none, end: "abandoned", stdout, message };
      return { ...none, end: "broken", stdout, message };
    } catch {
      return { ...none, end: "broken", message: `${program} cannot be started` };
    }
  };
}
