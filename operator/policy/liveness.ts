/**
 * Whether a device lives, from the broker's receive times alone (DESIGN 3): a device's clock may say anything.
 *
 * Silence counts only while the operator watched the broker without a gap, so that an outage of NATS or of the operator
 * never makes a fleet look dead. Where that leaves a question open, the previous answer stays.
 *
 * @module
 */
import type { Liveness } from "../../contracts/device_resource.ts";

/** Time bounds of liveness, in ms. */
export interface LivenessBounds {
  /** Pause between heartbeats. */
  readonly heartbeatIntervalMs: number;
  /** Silence after which a device is `Stale`. */
  readonly staleAfterMs: number;
  /** Age of a non-terminal phase after which a silent device is `Lost`. */
  readonly lostAfterMs: number;
}

/** What liveness is judged by; every time is the broker's, in ms since the epoch. */
export interface LivenessFacts {
  readonly nowMs: number;
  /** Since when the operator has watched without a gap; null while it does not. */
  readonly watchedSinceMs: number | null;
  /** Receipt of the newest heartbeat; null when the bucket has none. */
  readonly heartbeatAtMs: number | null;
  /** Receipt of the upgrade status if its phase is not terminal; else null. */
  readonly openPhaseAtMs: number | null;
  /** What was written last. */
  readonly previous: { readonly liveness: Liveness; readonly sinceMs: number } | null;
}

/** The judgement. */
export interface LivenessJudgement {
  readonly liveness: Liveness;
  readonly sinceMs: number;
  /** When to judge again without an event, in the broker's time; null when only an event can change it. */
  readonly recheckAtMs: number | null;
}

/**
 * Judges the liveness of a device.
 *
 * @param facts What is known
 * @param bounds Time bounds
 */
export function judgeLiveness(facts: LivenessFacts, bounds: LivenessBounds): LivenessJudgement {
  const { nowMs, watchedSinceMs, heartbeatAtMs, previous } = facts;
  const unchanged = previous ?? { liveness: "Unknown" as const, sinceMs: nowMs };
  if (watchedSinceMs === null) return { ...unchanged, recheckAtMs: null };
  const silentFromMs = watchedSinceMs + bounds.staleAfterMs;
  if (heartbeatAtMs === null) {
    // The bucket is in memory: a broker that restarted has lost it, and every device gets time to be heard again.
    if (nowMs <= silentFromMs) return { ...unchanged, recheckAtMs: silentFromMs + 1 };
    return { ...became("Unknown", nowMs, previous), recheckAtMs: null };
  }
  const silenceMs = nowMs - heartbeatAtMs;
  // Who was silent needs a heartbeat that is news: two operators with slightly different clocks must not disagree.
  const silentBefore = previous?.liveness === "Stale" || previous?.liveness === "Lost";
  if (silenceMs <= bounds.staleAfterMs - (silentBefore ? bounds.heartbeatIntervalMs : 0)) {
    return { ...became("Online", heartbeatAtMs, previous), recheckAtMs: heartbeatAtMs + bounds.staleAfterMs + 1 };
  }
  if (nowMs <= silentFromMs) return { ...unchanged, recheckAtMs: silentFromMs + 1 };
  return judgeSilent(facts, bounds, Math.max(heartbeatAtMs, watchedSinceMs) + bounds.staleAfterMs);
}

function judgeSilent(facts: LivenessFacts, bounds: LivenessBounds, staleAtMs: number): LivenessJudgement {
  const { nowMs, watchedSinceMs, openPhaseAtMs, previous } = facts;
  if (openPhaseAtMs === null) return { ...became("Stale", staleAtMs, previous), recheckAtMs: null };
  // A phase that began before a gap in the watch may have gone on unseen: it gets the whole time again.
  const lostAtMs = Math.max(openPhaseAtMs, watchedSinceMs ?? 0) + bounds.lostAfterMs;
  if (nowMs > lostAtMs || previous?.liveness === "Lost") {
    return { ...became("Lost", lostAtMs, previous), recheckAtMs: null };
  }
  return { ...became("Stale", staleAtMs, previous), recheckAtMs: lostAtMs + 1 };
}

function became(
  liveness: Liveness,
  sinceMs: number,
  previous: LivenessFacts["previous"],
): { liveness: Liveness; sinceMs: number } {
  return previous?.liveness === liveness ? previous : { liveness, sinceMs };
}
