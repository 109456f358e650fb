/**
 * A change of packages in a transient unit that outlives the updater: begun at most once for its name, found again after
 * a restart of the updater, and with a result that it writes itself (DESIGN 5, System upgrades).
 *
 * The unit's script leaves one small file: `begun` before anything else, and the exit code over it at the end. The file is
 * overwritten in place, so that a full disk cannot keep the result from being written.
 *
 * @module
 */
import {
  APT_KILL_GRACE_MS,
  SYSTEM_TOOL_TIMEOUT_MS,
  UNIT_STARTS_MAX,
  UPGRADE_RESULT_MAX_BYTES,
  UPGRADE_UNIT_POLL_MS,
} from "../../../contracts/limits.ts";
import type { Clock } from "../../../lib/deadline.ts";
import type { FileSystem } from "../../../lib/durable/file_system.ts";
import { outputLines } from "../../process/output_lines.ts";
import type { SystemTool } from "../../systemd/system_tool.ts";
import { decodeUnitProperties, UNIT_PROPERTIES } from "../../systemd/unit_properties.ts";
import { commandName, type CommandWords } from "./apt_commands.ts";
import type { CommandEnd } from "./command_report.ts";
import { commonUnitArguments } from "./unit_command.ts";

/** One change of packages. */
export interface UnitChange {
  /** Name of the unit; it names the attempt, and what it does for it. */
  readonly unit: string;
  /** Where the unit leaves its result. */
  readonly statePath: string;
  readonly words: CommandWords;
  readonly timeoutMs: number;
}

/** What {@link runChange} works with. */
export interface ChangeContext {
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly tool: SystemTool;
}

/** How a change ended: by itself, or without leaving a result. */
export type ChangeEnd = CommandEnd & { readonly succeeded: boolean; readonly lost?: boolean };

/*
 * TERM, as a shutdown sends it, is waited out: dpkg finishes what it has begun, as long as systemd lets it. The bound is
 * enforced inside, so that its result is written too; what is left of the command goes with the unit.
 */
const SCRIPT = `
state=$1; limit=$2; grace=$3; shift 3
trap : TERM
printf '%-63s\\n' begun >"$state.tmp" && sync "$state.tmp" && mv -f "$state.tmp" "$state" && sync "$(dirname "$state")" || exit 1
timeout --kill-after="$grace" "$limit" "$@" </dev/null
code=$?
printf '%-63s\\n' "$code" 1<>"$state"
sync "$state"`;

/** What timeout(1) exits with when it has ended the command: by TERM, and by KILL. */
const TIMEOUT_CODES: readonly number[] = [124, 137];
/** What systemd itself may need beyond the script's own bound, in ms. */
const MARGIN_MS = 5 * APT_KILL_GRACE_MS;
/** Lines of the unit's journal that are looked through: apt's last words stand among many of dpkg's. */
const JOURNAL_LINES = 200;

function seconds(ms: number): string {
  return `${Math.max(1, Math.ceil(ms / 1_000))}s`;
}

function unitArguments({ unit, statePath, words, timeoutMs }: UnitChange): string[] {
  return [
    ...commonUnitArguments(unit, "A Harmony Fleet system upgrade changes packages"),
    "--property=StandardInput=null",
    "--property=StandardOutput=journal",
    "--property=StandardError=journal",
    "--property=KillMode=mixed",
    "--property=TimeoutStopSec=10min",
    `--property=RuntimeMaxSec=${seconds(timeoutMs + MARGIN_MS)}`,
    "--",
    "/bin/sh",
    "-c",
    SCRIPT,
    "sh",
    statePath,
    seconds(timeoutMs),
    seconds(APT_KILL_GRACE_MS),
    ...words,
  ];
}

/** What the unit has left: nothing, that it began, or its exit code. */
async function leftBy(fs: FileSystem, path: string): Promise<"begun" | number | null> {
  const bytes = await fs.readFile(path, UPGRADE_RESULT_MAX_BYTES);
  if (bytes === null) return null;
  const text = new TextDecoder().decode(bytes).trim();
  return /^[0-9]{1,3}$/.test(text) ? Number(text) : "begun";
}

class Change {
  readonly #context: ChangeContext;
  readonly #change: UnitChange;

  constructor(context: ChangeContext, change: UnitChange) {
    this.#context = context;
    this.#change = change;
  }

  async run(signal: AbortSignal): Promise<ChangeEnd> {
    const { fs, clock } = this.#context;
    const { statePath } = this.#change;
    let problem = "";
    for (let starts = 0;;) {
      const running = await this.#isRunning(signal);
      // Read after the look at the unit: one that has ended in between has left its result before.
      const left = await leftBy(fs, statePath);
      if (typeof left === "number") return await this.#ended(left, signal);
      if (!running) {
        if (left === "begun") {
          // It may have begun between the two looks; then it runs now, or has left its result.
          if (await this.#isRunning(signal)) continue;
          const result = await leftBy(fs, statePath);
          if (typeof result === "number") return await this.#ended(result, signal);
          return await this.#lost("its unit ended without a result", signal);
        }
        // As long as there is no `begun`, nothing was: a start that was lost on the way is ordered again.
        if (starts++ >= UNIT_STARTS_MAX) return { ...this.#base(), succeeded: false, lines: [problem] };
        problem = await this.#start(signal) ?? `${this.#change.unit} ended before it began`;
      }
      await clock.sleep(UPGRADE_UNIT_POLL_MS, signal);
    }
  }

  #base() {
    return { command: commandName(this.#change.words) };
  }

  async #ended(code: number, signal: AbortSignal): Promise<ChangeEnd> {
    const base = this.#base();
    if (code === 0) return { ...base, succeeded: true, exitCode: 0, lines: [] };
    const lines = await this.#lines(signal);
    const timedOut = TIMEOUT_CODES.includes(code);
    return { ...base, succeeded: false, ...(timedOut ? { timedOut } : { exitCode: code }), lines };
  }

  async #lost(why: string, signal: AbortSignal): Promise<ChangeEnd> {
    // What is told of it is in the ledger; a unit that stays failed would call the whole system degraded.
    await this.#systemctl(["reset-failed", this.#change.unit], signal);
    return { ...this.#base(), succeeded: false, lost: true, lines: [...await this.#lines(signal), why] };
  }

  #systemctl(args: readonly string[], signal: AbortSignal) {
    const { tool } = this.#context;
    return tool("systemctl", ["--no-ask-password", "--no-pager", ...args], SYSTEM_TOOL_TIMEOUT_MS, signal);
  }

  async #isRunning(signal: AbortSignal): Promise<boolean> {
    const { unit } = this.#change;
    const run = await this.#systemctl(["show", unit, `--property=${UNIT_PROPERTIES.join(",")}`], signal);
    signal.throwIfAborted();
    const shown = run.end === "exit" && run.exitCode === 0
      ? decodeUnitProperties(new TextDecoder().decode(run.stdout))
      : null;
    // A service manager that does not answer has not said that the unit has ended.
    return shown === null || shown.active !== "inactive" && shown.active !== "failed";
  }

  async #start(signal: AbortSignal): Promise<string | undefined> {
    const { unit } = this.#change;
    await this.#systemctl(["reset-failed", unit], signal);
    signal.throwIfAborted();
    const { tool } = this.#context;
    const run = await tool("systemd-run", unitArguments(this.#change), SYSTEM_TOOL_TIMEOUT_MS, signal);
    signal.throwIfAborted();
    // One that is there by now is this very unit: a restart of the updater came between.
    const refused = run.end === "exit" && run.exitCode !== 0 && !await this.#isRunning(signal);
    return refused ? `systemd does not start ${unit}: ${run.message}` : undefined;
  }

  async #lines(signal: AbortSignal): Promise<string[]> {
    const { tool } = this.#context;
    await tool("journalctl", ["--sync"], SYSTEM_TOOL_TIMEOUT_MS, signal);
    const args = ["--quiet", "--no-pager", "--output=cat", `--lines=${JOURNAL_LINES}`, `--unit=${this.#change.unit}`];
    const run = await tool("journalctl", args, SYSTEM_TOOL_TIMEOUT_MS, signal);
    signal.throwIfAborted();
    return outputLines(run.stdout, JOURNAL_LINES);
  }
}

/**
 * Runs a change, or waits for the one of this name that an earlier updater has begun in this boot.
 *
 * @param context Files, clock, systemd's programs
 * @param change The change
 * @param signal Ends the wait, never the change
 */
export function runChange(context: ChangeContext, change: UnitChange, signal: AbortSignal): Promise<ChangeEnd> {
  return new Change(context, change).run(signal);
}
