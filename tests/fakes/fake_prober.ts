/**
 * A prober whose outcomes a test scripts.
 *
 * @module
 */
import type { ProbeOutcome, Prober } from "../../updater/ports.ts";

/** One probe that was asked for. */
export interface FakeProbe {
  readonly path: string;
  readonly targetVersion: string;
}

/** A prober whose outcomes a test scripts. */
export class FakeProber implements Prober {
  /** Outcome of a probe for which none is scripted. */
  outcome: ProbeOutcome = { kind: "passed" };
  /** Outcomes of the next probes, in order. */
  readonly script: ProbeOutcome[] = [];
  /** Every probe so far. */
  readonly probes: FakeProbe[] = [];

  async probe(path: string, targetVersion: string, signal: AbortSignal): Promise<ProbeOutcome> {
    this.probes.push({ path, targetVersion });
    if (!signal.aborted) return this.script.shift() ?? this.outcome;
    const postMortem = { stage: "probe", result: "canceled" } as const;
    return { kind: "failed", reason: "ProbeCanceled", error: "canceled", failureClass: "internal", postMortem };
  }
}
