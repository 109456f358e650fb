/**
 * What is kept of a command that failed, within its bound.
 *
 * @module
 */
import { COMMAND_NAME_MAX_CHARS, COMMAND_REPORT_MAX_BYTES } from "../../../contracts/limits.ts";
import { bounded } from "../../../contracts/formats.ts";
import type { CommandReport } from "../../../contracts/system_upgrade.ts";
import { type UpgradeFinding, upgradeFinding } from "../core/ledger.ts";
import { type AptStep, judgeFailure } from "./judge_failure.ts";

/** How a command ended. */
export interface CommandEnd {
  readonly command: string;
  readonly exitCode?: number;
  readonly signal?: string;
  readonly timedOut?: boolean;
  readonly durationMs?: number;
  /** Its output, as lines that are bounded each, oldest first. */
  readonly lines: readonly string[];
}

function sizeOf(report: CommandReport): number {
  return new TextEncoder().encode(JSON.stringify(report)).byteLength;
}

/**
 * The report of a command that failed; the oldest lines go first when it would be too large.
 *
 * @param end How it ended
 * @param linesMax Most lines
 */
export function commandReportOf({ command, lines, ...how }: CommandEnd, linesMax: number): CommandReport {
  const base: CommandReport = { command: bounded(command, COMMAND_NAME_MAX_CHARS), ...how };
  for (let kept = lines.slice(-linesMax);; kept = kept.slice(1)) {
    const report = kept.length === 0 ? base : { ...base, lastLines: [...kept] };
    if (kept.length === 0 || sizeOf(report) <= COMMAND_REPORT_MAX_BYTES) return report;
  }
}

/**
 * The finding of a command that failed.
 *
 * @param step What it was to do
 * @param end How it ended; `lost`: its unit ended without leaving a result
 * @param linesMax Most lines that are kept
 */
export function findingOf(
  step: AptStep,
  end: CommandEnd & { readonly lost?: boolean },
  linesMax: number,
): UpgradeFinding {
  const { lost = false, ...how } = end;
  const failedCommand = commandReportOf(how, linesMax);
  const changes = step === "upgrade" || step === "configure";
  if (lost) return upgradeFinding("Interrupted", how.lines.at(-1) ?? "its unit ended", failedCommand);
  if (how.timedOut === true && changes) {
    const error = `${how.command} was not over in time, and was ended`;
    return upgradeFinding("UpgradeTimedOut", error, failedCommand);
  }
  const { reason, error } = judgeFailure(step, how.lines);
  const late = how.timedOut === true ? `${how.command} was not over in time` : undefined;
  return upgradeFinding(reason, late ?? error, failedCommand);
}
