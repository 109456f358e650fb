/**
 * Figures of a run, from the transitions that the devices have recorded. Pure.
 *
 * @module
 */
import type { AgentUpgradeStatus, UpgradePhase } from "../contracts/agent_upgrade.ts";
import { byteSize } from "../operator/cli/render/byte_size.ts";

/** Median and maximum of some times, in ms. */
export interface Spread {
  readonly count: number;
  readonly medianMs: number;
  readonly maxMs: number;
}

/** What a run is measured by. */
export interface RunFigures {
  /** From taking an attempt to its end as complete. */
  readonly complete: Spread | null;
  /** From the stop of the old agent to READY of the new one. */
  readonly gap: Spread | null;
  /** From the decision to roll back to READY of the previous agent. */
  readonly rollback: Spread | null;
}

/**
 * Time between the first transition into a phase and the first into another, in ms.
 *
 * @param status Where the transitions stand
 * @param from The one phase
 * @param to The other phase
 * @returns null when one of them was never entered
 */
export function timeBetweenMs(status: AgentUpgradeStatus, from: UpgradePhase, to: UpgradePhase): number | null {
  const at = (wanted: UpgradePhase) => status.transitions.find(({ phase }) => phase === wanted)?.at;
  const [start, end] = [at(from), at(to)];
  return start === undefined || end === undefined ? null : Date.parse(end) - Date.parse(start);
}

/**
 * Median and maximum; the median of an even number of times is the mean of the two in the middle.
 *
 * @param timesMs Times, in ms
 */
export function spread(timesMs: readonly number[]): Spread | null {
  const sorted = [...timesMs].sort((a, b) => a - b);
  const count = sorted.length;
  const [low, high, max] = [sorted[(count - 1) >> 1], sorted[count >> 1], sorted[count - 1]];
  if (low === undefined || high === undefined || max === undefined) return null;
  return { count, medianMs: (low + high) / 2, maxMs: max };
}

/**
 * The figures of the attempts of a run.
 *
 * @param upgrades Good upgrades
 * @param rollbacks Attempts that were rolled back
 */
export function runFigures(
  upgrades: readonly AgentUpgradeStatus[],
  rollbacks: readonly AgentUpgradeStatus[],
): RunFigures {
  const times = (statuses: readonly AgentUpgradeStatus[], from: UpgradePhase, to: UpgradePhase) =>
    spread(statuses.flatMap((status) => timeBetweenMs(status, from, to) ?? []));
  return {
    complete: times(upgrades, "preparing", "complete"),
    gap: times(upgrades, "stopping", "complete"),
    rollback: times(rollbacks, "rolling-back", "failed"),
  };
}

/**
 * A time for people.
 *
 * @param ms In ms
 */
export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

/**
 * The figures as lines.
 *
 * @param figures The figures
 * @param artifactBytes Size of one artifact
 * @param totalMs Time of the whole run, in ms
 */
export function figureLines(figures: RunFigures, artifactBytes: number, totalMs: number): string {
  const { complete, gap, rollback } = figures;
  const rows: [string, string][] = [
    ["an upgrade, from its attempt to complete", spreadText(complete, "upgrades")],
    ["  of it without an agent: stop to READY", spreadText(gap, "upgrades")],
    ["a rollback, until the previous agent is READY", spreadText(rollback, "rollbacks")],
    ["an artifact (script form)", byteSize(artifactBytes)],
    ["the whole demo", seconds(totalMs)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}\n`).join("");
}

function spreadText(found: Spread | null, what: string): string {
  if (found === null) return "none";
  return `median ${seconds(found.medianMs)}, max ${seconds(found.maxMs)} (${found.count} ${what})`;
}
