/**
 * What is known of a device while the demo runs, and how it is put into words. Pure.
 *
 * @module
 */
import type { AgentUpgradeStatus, UpgradePhase } from "../../contracts/agent_upgrade.ts";
import type { DeviceInfo } from "../../contracts/device.ts";
import type { Tone } from "../../operator/cli/render/paint.ts";
import { seconds } from "../figures.ts";

/** What is known of a device. */
export interface DeviceNews {
  readonly id: string;
  /** Version of the agent that was READY last; null before the first one. */
  readonly ready: string | null;
  /** Where the start of the agent stands; null before its first word. */
  readonly step: DeviceInfo["step"] | null;
  readonly status: AgentUpgradeStatus | null;
  /** What the demo itself does to the device; it goes before everything else. */
  readonly note: string | null;
}

/** One row of the table, or one line. */
export interface DeviceRow {
  readonly device: string;
  readonly agent: string;
  readonly phase: string;
  readonly happens: string;
  readonly tone: Tone | undefined;
}

/** A row that is new, and when it became so on the monotonic clock, in ms. */
export interface DeviceChange {
  readonly row: DeviceRow;
  readonly atMs: number;
}

/**
 * A device of which nothing is known.
 *
 * @param id Its id
 */
export function noNews(id: string): DeviceNews {
  return { id, ready: null, step: null, status: null, note: null };
}

/**
 * Takes a device info.
 *
 * @param news What was known
 * @param info What it says
 */
export function withInfo(news: DeviceNews, { agentVersion, step }: DeviceInfo): DeviceNews {
  return { ...news, step, ready: step === "ready" ? agentVersion : news.ready };
}

/**
 * Takes an upgrade status, unless what is known is newer: statuses come from the updater and through NATS.
 *
 * @param news What was known
 * @param status What came
 */
export function withStatus(news: DeviceNews, status: AgentUpgradeStatus): DeviceNews {
  if (news.status !== null && !isNewer(status, news.status)) return news;
  return { ...news, status, ready: status.phase === "complete" ? status.targetVersion ?? news.ready : news.ready };
}

function isNewer(a: AgentUpgradeStatus, b: AgentUpgradeStatus): boolean {
  if (a.attemptId !== b.attemptId) return a.startedAt > b.startedAt;
  return a.transitions.length > b.transitions.length;
}

/**
 * The row of a device.
 *
 * @param news What is known
 */
export function deviceRow(news: DeviceNews): DeviceRow {
  const { id: device, ready, step, status, note } = news;
  const agent = ready ?? "-";
  if (status !== null) {
    const row = transitionRow(news, status, status.transitions.length - 1);
    return note === null ? row : { ...row, happens: note, tone: "bad" };
  }
  if (note !== null) return { device, agent, phase: "-", happens: note, tone: "bad" };
  if (step === null) return { device, agent, phase: "-", happens: "not seen yet", tone: "faint" };
  const happens = step === "ready" ? "READY, nothing to do" : `starts, at step ${step}`;
  return { device, agent, phase: "-", happens, tone: undefined };
}

/**
 * What has changed between two looks, a row for each change; phases that were passed in between are not left out.
 *
 * @param before What was known
 * @param after What is known
 */
export function changedRows(before: DeviceNews, after: DeviceNews): DeviceRow[] {
  const { status } = after;
  if (after.note !== null && after.note !== before.note) return [deviceRow(after)];
  if (status === null) {
    const told = after.step === before.step || (after.step !== "ready" && before.step !== null);
    return told ? [] : [deviceRow(after)];
  }
  const known = status.attemptId === before.status?.attemptId ? before.status?.transitions.length ?? 0 : 0;
  return status.transitions.slice(known).map((_, index) => transitionRow(before, status, known + index));
}

/** An agent runs in these phases, and not, or not yet, in the others. */
const PHASES_WITH_AGENT: readonly UpgradePhase[] = ["preparing", "stopping", "complete", "failed"];

function transitionRow(news: DeviceNews, status: AgentUpgradeStatus, index: number): DeviceRow {
  const phase = status.transitions[index]?.phase ?? status.phase;
  const target = status.targetVersion ?? "?";
  const running = phase === "complete" ? target : news.ready ?? "?";
  return {
    device: news.id,
    agent: PHASES_WITH_AGENT.includes(phase) ? running : "-",
    phase,
    happens: happensIn(phase, status, news.ready ?? "the previous one"),
    tone: toneOf(phase),
  };
}

function happensIn(phase: UpgradePhase, status: AgentUpgradeStatus, previous: string): string {
  const { targetVersion: target = "?", reason = "?", failureClass = "?" } = status;
  switch (phase) {
    case "preparing":
      return `${target} is fetched, checked and tried (--self-test); ${previous} works on`;
    case "stopping":
      return `${previous} finishes what it does and stops`;
    case "starting":
      return `${target} starts`;
    case "complete":
      return `${target} is READY and stays`;
    case "rolling-back":
      return `${reason}: ${previous} is brought back`;
    case "failed":
      return wasSwitched(status)
        ? `${reason} (${failureClass}): ${previous} is back and READY`
        : `${reason} (${failureClass}): nothing was switched, ${previous} never stopped`;
    case "rollback-failed":
      return `${reason} (${failureClass}): root must repair the device`;
  }
}

function wasSwitched({ transitions }: AgentUpgradeStatus): boolean {
  return transitions.some(({ phase }) => phase === "rolling-back");
}

function toneOf(phase: UpgradePhase): Tone {
  if (phase === "complete") return "good";
  return phase === "failed" || phase === "rollback-failed" || phase === "rolling-back" ? "bad" : "busy";
}

/**
 * A row as one line for a log.
 *
 * @param row The row
 * @param elapsedMs Since the demo began, in ms
 */
export function changeLine({ device, agent, phase, happens }: DeviceRow, elapsedMs: number): string {
  const columns = [seconds(elapsedMs).padStart(7), device, agent.padEnd(5), phase.padEnd(12), happens];
  return `  ${columns.join("  ")}\n`;
}
