/**
 * The agent's part in a system upgrade: one loop that polls the updater, mirrors what its ledger shows, records the first
 * heartbeat after a success, and decides about the intents. Everything is looked at anew at each turn, so that no event
 * can be lost over an outage, a restart or the reboot (`Fleet tasks`, Execution; DESIGN 6).
 *
 * @module
 */
import { systemUpgradeKey } from "../../contracts/buckets.ts";
import type { DeferredIntent } from "../../contracts/device.ts";
import { errorText, isFleetError } from "../../contracts/errors.ts";
import { SOCKET_STATUS_TIMEOUT_MS, SYSTEM_STATUS_MAX_BYTES } from "../../contracts/limits.ts";
import {
  type FirstHeartbeat,
  isTerminalSystemPhase,
  type SystemUpgradeStatus,
  systemUpgradeStatus,
} from "../../contracts/system_upgrade.ts";
import type { UpdaterState } from "../../contracts/updater_protocol.ts";
import type { Bus, KvBucket } from "../../lib/bus/port.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import type { AgentBounds } from "../config.ts";
import type { DeferReason } from "../core/decide_intent.ts";
import { OwnDocument } from "../own_document.ts";
import type { UpdaterClient } from "../upgrade/updater_client.ts";
import type { UpdaterWatch } from "../upgrade/updater_watch.ts";
import { WakeUp } from "../wake_up.ts";
import { decideSystemIntent, type SystemIntentFacts } from "./decide_system_intent.ts";
import { judgeSystemAnswer, type SystemAnswer } from "./judge_answer.ts";
import type { SystemIntent, ValidSystemIntent } from "./system_intent.ts";
import type { SystemIntentWatch } from "./system_intent_watch.ts";
import { mirroredSystemStatus, rejectedSystemStatus } from "./system_status.ts";

/** What the loop works with. */
export interface SystemUpgradeLoopOptions {
  readonly deviceId: string;
  readonly bounds: Pick<
    AgentBounds,
    "updaterPollActiveMs" | "updaterPollIdleMs" | "intentRecheckMs" | "statusRereadMs"
  >;
  readonly bus: Pick<Bus, "connected" | "clockSkewMs">;
  /** Binds the bucket of the statuses, which an operator that is older than this agent has not made. */
  readonly bind: () => Promise<KvBucket>;
  readonly client: UpdaterClient;
  readonly updater: UpdaterWatch;
  readonly intents: Pick<SystemIntentWatch, "intents">;
  /** The first heartbeat that the broker has taken and that was sent since a moment of the monotonic clock. */
  readonly heartbeatSince: (monotonicMs: number) => FirstHeartbeat | null;
  /** Asks for a heartbeat soon. */
  readonly pokeHeartbeat: () => void;
  readonly freeBytes: () => Promise<SystemIntentFacts["freeBytes"]>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when the deferred intent may have changed. */
  readonly onChange: () => void;
  /** Called at each turn. */
  readonly turned: () => void;
}

/** Why an intent that the updater did not take is not sent again yet. */
interface HoldOff {
  readonly untilMs: number;
  readonly reason: DeferReason;
  readonly detail: string;
}

/** What is known of an intent beside what stands in NATS. */
interface Memory {
  readonly document: OwnDocument<SystemUpgradeStatus>;
  holdOff?: HoldOff;
  waitedFor?: string;
  /** When this process first saw that it had succeeded, by the monotonic clock. */
  successSeenMs?: number;
}

/** The agent's part in a system upgrade. */
export class SystemUpgradeLoop {
  readonly #options: SystemUpgradeLoopOptions;
  readonly #memories = new Map<string, Memory>();
  #bucket: KvBucket | null = null;
  #deferred: DeferredIntent | undefined;
  /** Whether this turn has sent an attempt: one a turn, so that a turn stays short. */
  #hasSent = false;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  readonly #wakeUp: WakeUp;

  constructor(options: SystemUpgradeLoopOptions) {
    this.#options = options;
    this.#wakeUp = new WakeUp(options.clock);
  }

  /** The intent that waits, for the heartbeat. */
  get deferred(): DeferredIntent | undefined {
    return this.#deferred;
  }

  /** Something may have changed: the next turn comes now. */
  poke(): void {
    this.#wakeUp.poke();
  }

  /** The connection is another one: what was believed of the broker is read again. */
  forget(): void {
    for (const { document } of this.#memories.values()) document.forget();
    this.poke();
  }

  /** Turns until the signal aborts. A request that is under way is then abandoned, which cancels nothing. */
  async run(signal: AbortSignal): Promise<void> {
    const { bounds, onChange, turned, updater } = this.#options;
    try {
      while (!signal.aborted) {
        turned();
        const state = await updater.poll(signal);
        const active = await this.#turn(state, signal);
        onChange();
        await this.#wakeUp.pause(active ? bounds.updaterPollActiveMs : bounds.updaterPollIdleMs, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** @returns whether the next turn should come soon */
  async #turn(state: UpdaterState | null, signal: AbortSignal): Promise<boolean> {
    const { bounds, bus, clock, log } = this.#options;
    const status = state?.systemUpgrade;
    const running = status !== undefined && !isTerminalSystemPhase(status.phase);
    if (!bus.connected || clock.monotonicMs() < this.#pausedUntilMs) return running;
    try {
      const settled = status === undefined || await this.#mirror(status);
      await this.#decideAll(state, signal);
      log.state("system-upgrade", "system upgrades are up to date", {}, "debug");
      return running || !settled;
    } catch (error) {
      signal.throwIfAborted();
      if (!isFleetError(error)) throw error;
      this.#pausedUntilMs = clock.monotonicMs() + bounds.updaterPollIdleMs;
      log.state(
        "system-upgrade",
        "the status of a system upgrade cannot be written",
        { error: errorText(error) },
        "warn",
      );
      return running;
    }
  }

  /** @returns whether all that there is to tell of it stands in NATS */
  async #mirror(status: SystemUpgradeStatus): Promise<boolean> {
    const { clock, deviceId, log } = this.#options;
    const { runId, phase, reason } = status;
    if (status.deviceId !== deviceId) {
      // The disk was cloned, or the device was renamed.
      log.state("system-mirror", "the ledger is of another device", { deviceId: status.deviceId }, "error");
      return true;
    }
    const memory = await this.#memory(runId);
    const published = await memory.document.read();
    const heartbeat = this.#firstHeartbeat(memory, phase === "succeeded" ? published ?? status : status);
    const wanted = mirroredSystemStatus({ status, published, heartbeat, nowMs: clock.nowMs() });
    if (wanted !== null) {
      // Somebody else's write in between: what stands there is read again at the next turn.
      if (!await memory.document.write(wanted)) return false;
      log.info("system upgrade status published", { runId, phase, ...(reason === undefined ? {} : { reason }) });
    }
    const stands = wanted ?? published;
    return phase !== "succeeded" || stands === null || stands.firstHeartbeat !== undefined;
  }

  /** The heartbeat that a success still lacks, once there is one; asks for it until then. */
  #firstHeartbeat(memory: Memory, { phase, firstHeartbeat }: SystemUpgradeStatus): FirstHeartbeat | null {
    if (phase !== "succeeded" || firstHeartbeat !== undefined) return null;
    const { clock, heartbeatSince, pokeHeartbeat } = this.#options;
    memory.successSeenMs ??= clock.monotonicMs();
    const heartbeat = heartbeatSince(memory.successSeenMs);
    if (heartbeat === null) pokeHeartbeat();
    return heartbeat;
  }

  async #memory(runId: string): Promise<Memory> {
    const known = this.#memories.get(runId);
    if (known !== undefined) return known;
    const { bind, bounds, clock, deviceId } = this.#options;
    this.#bucket ??= await bind();
    const memory: Memory = {
      document: new OwnDocument({
        bucket: this.#bucket,
        key: systemUpgradeKey(deviceId, runId),
        decoder: systemUpgradeStatus,
        maxBytes: SYSTEM_STATUS_MAX_BYTES,
        rereadMs: bounds.statusRereadMs,
        clock,
      }),
    };
    this.#memories.set(runId, memory);
    return memory;
  }

  async #decideAll(state: UpdaterState | null, signal: AbortSignal): Promise<void> {
    const { intents } = this.#options.intents;
    const wanted = new Set(intents.map(({ runId }) => runId).concat(state?.systemUpgrade?.runId ?? []));
    for (const runId of this.#memories.keys()) if (!wanted.has(runId)) this.#memories.delete(runId);
    let deferred = false;
    this.#hasSent = false;
    for (const intent of intents) {
      const waits = await this.#decide(intent, state, signal);
      if (waits === undefined) continue;
      // The heartbeat has room for one: the first of them is the next to run.
      if (!deferred) this.#defer(intent, waits.reason, waits.detail);
      deferred = true;
    }
    if (!deferred) this.#deferred = undefined;
  }

  /** @returns why the intent waits, if it does */
  async #decide(
    intent: SystemIntent,
    state: UpdaterState | null,
    signal: AbortSignal,
  ): Promise<{ readonly reason: DeferReason; readonly detail: string } | undefined> {
    const { clock, deviceId } = this.#options;
    const memory = await this.#memory(intent.runId);
    const decision = await this.#decision(intent, state, memory);
    switch (decision.kind) {
      case "known":
        return undefined;
      case "answered":
        await this.#complete(memory);
        return undefined;
      case "defer":
        memory.waitedFor = `${decision.reason}: ${decision.detail}`;
        return decision;
      case "reject": {
        const rejected = rejectedSystemStatus(intent, decision.rejection, { deviceId, nowMs: clock.nowMs() });
        await this.#answer(intent, memory, rejected);
        return undefined;
      }
      case "forward":
        return await this.#forward(decision.intent, memory, signal);
    }
  }

  /** A success that the updater has answered out of its memory lacks its heartbeat as well. */
  async #complete(memory: Memory): Promise<void> {
    const published = await memory.document.read();
    const firstHeartbeat = published === null ? null : this.#firstHeartbeat(memory, published);
    if (published !== null && firstHeartbeat !== null) await memory.document.write({ ...published, firstHeartbeat });
  }

  async #decision(intent: SystemIntent, updater: UpdaterState | null, { document, waitedFor }: Memory) {
    const { bus, clock, deviceId, freeBytes } = this.#options;
    const known: SystemIntentFacts = {
      deviceId,
      updater,
      published: await document.read(),
      nowMs: clock.nowMs(),
      clockSkewMs: null,
      freeBytes: { usr: null, var: null },
      ...(waitedFor === undefined ? {} : { waitedFor }),
    };
    const decision = decideSystemIntent(intent, known);
    // The clock's skew and the disk are measured only where they decide.
    if (decision.kind === "known" || decision.kind === "answered") return decision;
    const measured = {
      ...known,
      nowMs: clock.nowMs(),
      clockSkewMs: await bus.clockSkewMs(),
      freeBytes: await freeBytes(),
    };
    return decideSystemIntent(intent, measured);
  }

  async #forward(
    intent: ValidSystemIntent,
    memory: Memory,
    signal: AbortSignal,
  ): Promise<{ readonly reason: DeferReason; readonly detail: string } | undefined> {
    const { bounds, clock, deviceId, log } = this.#options;
    const { holdOff } = memory;
    if (holdOff !== undefined && clock.monotonicMs() < holdOff.untilMs) return holdOff;
    if (this.#hasSent) return { reason: "UpdaterBusy", detail: "another attempt is on its way" };
    this.#hasSent = true;
    const { runId } = intent;
    log.info("system attempt sent to the updater", { runId });
    const answer = await this.#ask(intent, signal);
    if (answer.kind === "deferred") {
      const { reason, detail } = answer;
      memory.holdOff = { untilMs: clock.monotonicMs() + bounds.intentRecheckMs, reason, detail };
      memory.waitedFor = `${reason}: ${detail}`;
      return answer;
    }
    delete memory.holdOff;
    // The state was asked for before the answer came: the next turn looks at it anew.
    this.poke();
    if (answer.kind === "status") await this.#answer(intent, memory, answer.status);
    else {
      const rejected = rejectedSystemStatus(intent, answer.rejection, { deviceId, nowMs: clock.nowMs() });
      await this.#answer(intent, memory, rejected);
    }
    return undefined;
  }

  async #ask({ runId, document }: ValidSystemIntent, signal: AbortSignal): Promise<SystemAnswer> {
    const { client } = this.#options;
    try {
      return judgeSystemAnswer(runId, await client.systemUpgrade(document, SOCKET_STATUS_TIMEOUT_MS, signal));
    } catch (error) {
      signal.throwIfAborted();
      if (!isFleetError(error)) throw error;
      // It may have been accepted all the same: the next poll of the updater's state tells.
      const reason = error.code === "E_DECODE" ? "UpdaterRefused" : "UpdaterUnavailable";
      return { kind: "deferred", reason, detail: errorText(error) };
    }
  }

  /** Writes what became of an intent; one that another writer was faster with is looked at again at the next turn. */
  async #answer(intent: SystemIntent, { document }: Memory, status: SystemUpgradeStatus): Promise<void> {
    const { log } = this.#options;
    if (!await document.write(status)) return;
    const { phase, reason, error } = status;
    log.info("system intent answered", {
      runId: intent.runId,
      phase,
      ...(reason === undefined ? {} : { reason }),
      ...(error === undefined ? {} : { error }),
    });
  }

  #defer({ runId, revision }: SystemIntent, reason: DeferReason, detail: string): void {
    const { clock, log } = this.#options;
    log.state("system-intent", "system intent deferred", { runId, revision, reason, detail });
    if (this.#deferred?.attemptId === runId && this.#deferred.reason === reason) return;
    this.#deferred = { attemptId: runId, reason, since: new Date(clock.nowMs()).toISOString() };
  }
}
