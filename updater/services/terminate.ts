/**
 * Ends all processes of the agent: asks first, and kills what does not follow.
 *
 * @module
 */
import { KILL_GRACE_MS, PROCESS_POLL_MS } from "../../contracts/limits.ts";
import type { Clock } from "../../lib/deadline.ts";
import { sendSignal, signalGroup } from "../process/process_group.ts";
import { groupMembers, markedProcesses, type ProcessInfo, processInfo } from "../process/process_table.ts";

/** How it went: there was nothing, all ended, some had to be killed, or some are left. */
export type Termination = "none" | "ended" | "killed" | "left";

/** What is ended. */
export interface TerminationTarget {
  /** The process that leads the group, if it is known. */
  readonly leader?: Pick<ProcessInfo, "pid" | "startTicks">;
  /** A variable of the environment that only processes of the agent have. */
  readonly mark: { readonly name: string; readonly value: string };
  /** Time to follow the request, in ms. */
  readonly timeoutMs: number;
  /** Resolves when the leader has ended: sooner known than by looking. */
  readonly leaderExited?: Promise<unknown>;
  /** Gives up: what has not ended by then is left, and not killed. */
  readonly signal: AbortSignal;
}

/** Looks first often, then seldom: most agents end at once, some drain for a minute. */
const POLL_MAX_MS = 10 * PROCESS_POLL_MS;

/** The group's living members; none when the leader's id belongs to a later process by now. */
function groupOf({ leader }: TerminationTarget): ProcessInfo[] {
  if (leader === undefined) return [];
  const members = groupMembers(leader.pid);
  // Linux gives no id again while a group bears it: only a new leader can have taken it.
  return members.some(({ pid, startTicks }) => pid === leader.pid && startTicks !== leader.startTicks) ? [] : members;
}

function livingProcesses(target: TerminationTarget): ProcessInfo[] {
  const members = groupOf(target);
  const known = new Set(members.map(({ pid }) => pid));
  const { name, value } = target.mark;
  return [...members, ...markedProcesses(name, value).filter(({ pid }) => !known.has(pid))];
}

function isGone({ pid, startTicks }: Pick<ProcessInfo, "pid" | "startTicks">): boolean {
  const now = processInfo(pid);
  return now === null || now.ended || now.startTicks !== startTicks;
}

/** Waits until none of the processes is left, a moment has come, or the signal aborts. */
async function untilGone(
  processes: readonly ProcessInfo[],
  endMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let pauseMs = PROCESS_POLL_MS;
  while (!processes.every(isGone) && clock.monotonicMs() < endMs && !signal.aborted) {
    await clock.sleep(Math.min(pauseMs, Math.max(1, endMs - clock.monotonicMs())), signal).catch(() => {});
    pauseMs = Math.min(2 * pauseMs, POLL_MAX_MS);
  }
}

/** Waits until nothing is left, new processes included. */
async function untilEmpty(target: TerminationTarget, endMs: number, clock: Clock): Promise<boolean> {
  for (;;) {
    const living = livingProcesses(target);
    if (living.length === 0) return true;
    if (clock.monotonicMs() >= endMs || target.signal.aborted) return false;
    await untilGone(living, endMs, clock, target.signal);
  }
}

/**
 * Ends all processes of the agent.
 *
 * @param target What is ended, and for how long it is asked
 * @param clock For the bounds
 */
export async function terminate(target: TerminationTarget, clock: Clock): Promise<Termination> {
  const { leader, timeoutMs, leaderExited, signal } = target;
  const endMs = clock.monotonicMs() + timeoutMs;
  // The group first and without a long look: the time until the next agent is READY counts from here.
  if (leader !== undefined && !isGone(leader)) signalGroup(leader.pid, "SIGTERM");
  const living = livingProcesses(target);
  if (living.length === 0) return "none";
  for (const { pid, groupId } of living) if (groupId !== leader?.pid) sendSignal(pid, "SIGTERM");
  // A stopped process can only follow once it goes on.
  for (const { pid } of living) sendSignal(pid, "SIGCONT");
  const looking = new AbortController();
  const stopLooking = () => looking.abort();
  leaderExited?.then(stopLooking, stopLooking);
  if (signal.aborted) stopLooking();
  signal.addEventListener("abort", stopLooking, { once: true });
  await untilGone(living, endMs, clock, looking.signal);
  signal.removeEventListener("abort", stopLooking);
  if (await untilEmpty(target, endMs, clock)) return "ended";
  if (signal.aborted) return "left";
  for (const { pid } of livingProcesses(target)) sendSignal(pid, "SIGKILL");
  return await untilEmpty(target, clock.monotonicMs() + KILL_GRACE_MS, clock) ? "killed" : "left";
}
