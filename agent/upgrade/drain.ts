/**
 * The end of an agent: its last words, in order, and bounded below the service manager's stop bound even when the
 * mutation hangs and NATS is away (`Fleet agent upgrades`, Stop, switch, start; DESIGN 6, Drain).
 *
 * @module
 */
import type { AgentUpgradeStatus } from "../../contracts/agent_upgrade.ts";
import { errorText } from "../../contracts/errors.ts";
import {
  DRAIN_FLUSH_TIMEOUT_MS,
  DRAIN_PUBLISH_TIMEOUT_MS,
  DRAIN_RECORD_TIMEOUT_MS,
  DRAIN_STATUS_TIMEOUT_MS,
} from "../../contracts/limits.ts";
import type { TransactionView } from "../../contracts/updater_protocol.ts";
import type { Bus } from "../../lib/bus/port.ts";
import { type Clock, withDeadline } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import type { Notifier } from "../../lib/systemd/notify.ts";
import { stoppingStatus } from "../core/attempt_status.ts";
import { LAST_DRAIN_SCHEMA, type LastDrain } from "../core/last_drain.ts";
import type { MutationGate } from "../mutation_gate.ts";
import type { OwnDocument } from "../own_document.ts";
import type { UpdaterClient } from "./updater_client.ts";

/** What a drain works with. */
export interface DrainOptions {
  readonly deviceId: string;
  readonly gate: MutationGate;
  readonly client: UpdaterClient;
  readonly bus: Pick<Bus, "connected" | "flush">;
  readonly status: OwnDocument<AgentUpgradeStatus>;
  /** Durably replaces `last-drain.json`. */
  readonly record: (drain: LastDrain) => Promise<void>;
  readonly notifier: Pick<Notifier, "notify">;
  /** Time that the mutation has to end, in ms. */
  readonly mutationTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** One bounded part of a drain: what goes wrong is told, and the drain goes on. */
async function attempt<T>(
  { clock, log }: DrainOptions,
  timeoutMs: number,
  what: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await withDeadline(timeoutMs, what, work, { clock });
  } catch (error) {
    log.warn("a part of the drain failed", { part: what, error: errorText(error) });
    return undefined;
  }
}

/** The transaction whose switch stops this agent, or undefined when something else does. */
async function activation(options: DrainOptions): Promise<TransactionView | undefined> {
  const { client, deviceId } = options;
  const state = await attempt(
    options,
    DRAIN_STATUS_TIMEOUT_MS,
    "ask the updater",
    (signal) => client.status(DRAIN_STATUS_TIMEOUT_MS, signal),
  );
  const transaction = state?.transaction;
  if (transaction?.phase !== "activating" || transaction.status.deviceId !== deviceId) return undefined;
  return transaction;
}

async function publishStopping({ clock, status }: DrainOptions, transaction: TransactionView): Promise<void> {
  // The second try is for a write of the loop that was still under way.
  for (let tries = 0; tries < 2; tries++) {
    if (await status.write(stoppingStatus(transaction.status, clock.nowMs()))) return;
  }
}

/**
 * Drains: admits nothing more, waits for the mutation that runs, publishes `stopping` with reason `Updater` if and only
 * if the updater is activating, leaves the drain's duration for the successor, flushes, and says `STOPPING=1`.
 *
 * @param options What it works with
 */
export async function drain(options: DrainOptions): Promise<void> {
  const { bus, clock, gate, log, mutationTimeoutMs, notifier, record } = options;
  const startedMs = clock.monotonicMs();
  gate.close();
  await attempt(options, mutationTimeoutMs, "wait for the mutation", () => gate.idle());
  const transaction = await activation(options);
  if (transaction !== undefined) {
    if (bus.connected) {
      await attempt(options, DRAIN_PUBLISH_TIMEOUT_MS, "publish stopping", () => publishStopping(options, transaction));
    }
    const drainMs = Math.round(clock.monotonicMs() - startedMs);
    const at = new Date(clock.nowMs()).toISOString();
    const { attemptId } = transaction;
    await attempt(
      options,
      DRAIN_RECORD_TIMEOUT_MS,
      "record the drain",
      () => record({ schema: LAST_DRAIN_SCHEMA, attemptId, drainMs, at }),
    );
  }
  if (bus.connected) {
    await attempt(options, DRAIN_FLUSH_TIMEOUT_MS, "flush NATS", () => bus.flush(DRAIN_FLUSH_TIMEOUT_MS));
  }
  const durationMs = Math.round(clock.monotonicMs() - startedMs);
  log.info("drained", { durationMs, attemptId: transaction?.attemptId });
  await notifier.notify({ stopping: true, status: "drained" });
}
