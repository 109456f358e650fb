/**
 * The system-upgrade side of a device as the broker sees it: it takes its intents as an agent and an updater do, at most
 * once each, and publishes what they publish, by a script instead of by apt.
 *
 * @module
 */
import { BUCKETS, systemUpgradeFilter, systemUpgradeKey } from "../../contracts/buckets.ts";
import { decodeBytes } from "../../contracts/codec.ts";
import { canonicalDigest } from "../../contracts/digest.ts";
import {
  type SystemUpgradeAttempt,
  systemUpgradeAttempt,
  type SystemUpgradePhase,
  type SystemUpgradeStatus,
} from "../../contracts/system_upgrade.ts";
import type { Bus } from "../../lib/bus/port.ts";

/** How an attempt ends: `hang` never does, `silent` succeeds and sends no heartbeat, `ignored` is never accepted. */
export type SystemOutcome = "succeeded" | "failed" | "hang" | "silent" | "ignored";

/** What a device does with its intents. */
export interface SystemScript {
  /** Default `succeeded`. */
  readonly outcome?: (attempt: SystemUpgradeAttempt) => SystemOutcome;
  /** Waited for before a phase is published. Default nothing. */
  readonly gate?: (phase: SystemUpgradePhase) => Promise<void>;
}

const PHASES: Readonly<Record<SystemOutcome, readonly SystemUpgradePhase[]>> = {
  succeeded: ["accepted", "upgrading", "rebooting", "succeeded"],
  failed: ["accepted", "refreshing", "failed"],
  hang: ["accepted", "upgrading"],
  silent: ["accepted", "upgrading", "rebooting", "succeeded"],
  ignored: [],
};
const BOOTS = ["2f1c3c0e-95ad-4f7e-8c25-4f0f8c1f9f10", "0b7a0e0c-53f0-4f4e-9d0e-3a1f1a0f7c55"] as const;

/**
 * A status as a device publishes it.
 *
 * @param attempt What it is of
 * @param phase Its phase
 * @param changes What a test changes about it
 */
export function systemStatus(
  attempt: Pick<SystemUpgradeAttempt, "attemptId" | "runId" | "deviceId">,
  phase: SystemUpgradePhase,
  changes: Partial<SystemUpgradeStatus> = {},
): SystemUpgradeStatus {
  const now = new Date().toISOString();
  const { attemptId, deviceId, runId } = attempt;
  return {
    schema: 1,
    attemptId,
    runId,
    deviceId,
    attemptDigest: canonicalDigest(attempt),
    phase,
    ...(phase === "failed" ? { reason: "IndexRefreshFailed", error: "the mirror is away" } : {}),
    ...(phase === "succeeded" ? { reason: "Upgraded" } : {}),
    startedAt: now,
    updatedAt: now,
    transitions: [{ phase, at: now }],
    summary: { bootIdBefore: BOOTS[0], ...(phase === "succeeded" ? { bootIdAfter: BOOTS[1] } : {}) },
    ...changes,
  };
}

/** The record of a heartbeat of the boot after the upgrade. */
export const FIRST_HEARTBEAT = { sequence: 1, bootId: BOOTS[1], at: "2026-06-01T00:10:00.000Z" } as const;

/** A device that follows a script. */
export class ScriptedSystem {
  readonly id: string;
  /** Attempts that it executed, in order: what an updater would call the ledger. */
  readonly executed: string[] = [];
  readonly #bus: Bus;
  readonly #script: SystemScript;
  readonly #running: Promise<void>[] = [];

  constructor(bus: Bus, id: string, script: SystemScript = {}) {
    this.#bus = bus;
    this.id = id;
    this.#script = script;
  }

  /** Follows the script until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const intents = await this.#bus.bucket(BUCKETS.systemUpgradeIntent);
    for await (const event of intents.watch(systemUpgradeFilter(this.id), signal)) {
      if (event.kind !== "entry" || event.entry.deleted) continue;
      this.#take(decodeBytes(systemUpgradeAttempt, event.entry.value, 10_000));
    }
    await Promise.all(this.#running);
  }

  /** Publishes a status. */
  async publish(status: SystemUpgradeStatus): Promise<void> {
    const statuses = await this.#bus.bucket(BUCKETS.systemUpgradeStatus);
    const value = new TextEncoder().encode(JSON.stringify(status));
    await statuses.put(systemUpgradeKey(this.id, status.runId), value);
  }

  #take(attempt: SystemUpgradeAttempt): void {
    const outcome = this.#script.outcome?.(attempt) ?? "succeeded";
    if (outcome === "ignored" || this.executed.includes(attempt.attemptId)) return;
    this.executed.push(attempt.attemptId);
    this.#running.push(this.#execute(attempt, outcome));
  }

  async #execute(attempt: SystemUpgradeAttempt, outcome: SystemOutcome): Promise<void> {
    for (const phase of PHASES[outcome]) {
      await this.#script.gate?.(phase);
      await persist(() => this.publish(systemStatus(attempt, phase)));
    }
    if (outcome !== "succeeded") return;
    await persist(() => this.publish(systemStatus(attempt, "succeeded", { firstHeartbeat: FIRST_HEARTBEAT })));
  }
}

/** Tries until the broker takes it, as a mirror does that looks again at each poll. */
async function persist(work: () => Promise<void>): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    try {
      return await work();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
