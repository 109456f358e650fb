/**
 * The agent's part in an upgrade: one loop that polls the updater, mirrors its transaction, and decides about the newest
 * intent. Everything is looked at anew at each turn, so that no event can be lost (DESIGN 6, Intent and Mirror).
 *
 * @module
 */
import type { AgentUpgradeStatus } from "../../contracts/agent_upgrade.ts";
import type { DeferredIntent } from "../../contracts/device.ts";
import { errorText, isFleetError } from "../../contracts/errors.ts";
import type { UpdaterState } from "../../contracts/updater_protocol.ts";
import type { Bus } from "../../lib/bus/port.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import type { AgentBounds } from "../config.ts";
import type { AttemptIdentity } from "../core/attempt_identity.ts";
import { identityOf } from "../core/attempt_identity.ts";
import { preparingStatus, rejectedStatus, replayedStatus, type StatusAuthor } from "../core/attempt_status.ts";
import { decideIntent, type DeferReason, type IntentDecision, type IntentFacts } from "../core/decide_intent.ts";
import type { Intent, ValidIntent } from "../core/intent.ts";
import type { DeviceFacts } from "../device_facts.ts";
import type { OwnDocument } from "../own_document.ts";
import { Forward, type ForwardOutcome } from "./forward.ts";
import type { IntentWatch } from "./intent_watch.ts";
import type { StatusMirror } from "./status_mirror.ts";
import type { UpdaterClient } from "./updater_client.ts";
import type { UpdaterWatch } from "./updater_watch.ts";

/** What the loop works with. */
export interface UpgradeLoopOptions {
  readonly deviceId: string;
  readonly facts: Pick<DeviceFacts, "arch" | "bootId">;
  readonly bounds: Pick<AgentBounds, "updaterPollActiveMs" | "updaterPollIdleMs" | "intentRecheckMs">;
  readonly bus: Pick<Bus, "connected" | "clockSkewMs">;
  readonly client: UpdaterClient;
  readonly updater: UpdaterWatch;
  readonly intents: IntentWatch;
  readonly mirror: StatusMirror;
  readonly status: OwnDocument<AgentUpgradeStatus>;
  /** Free bytes where binaries are installed; null when unknown. */
  readonly freeBytes: () => Promise<number | null>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when the deferred intent or the updater's summary may have changed. */
  readonly onChange: () => void;
  /** Called at each turn. */
  readonly turned: () => void;
}

/** Why an attempt that the updater did not take is not sent again yet. */
interface HoldOff {
  readonly identity: AttemptIdentity;
  readonly untilMs: number;
  readonly reason: DeferReason;
  readonly detail: string;
}

/** The agent's part in an upgrade. */
export class UpgradeLoop {
  readonly #options: UpgradeLoopOptions;
  #forward: Forward | null = null;
  #holdOff: HoldOff | null = null;
  #deferred: DeferredIntent | undefined;
  #wasBusy = false;
  #mustReread = false;
  /** No write to NATS is tried before, after one that failed. */
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #poked = Promise.withResolvers<void>();

  constructor(options: UpgradeLoopOptions) {
    this.#options = options;
  }

  /** The intent that waits, for the heartbeat. */
  get deferred(): DeferredIntent | undefined {
    return this.#deferred;
  }

  /** Something may have changed: the next turn comes now. */
  poke(): void {
    this.#poked.resolve();
  }

  /** Turns until the signal aborts. A request that is under way is then abandoned. */
  async run(signal: AbortSignal): Promise<void> {
    const { bounds, clock, turned, updater } = this.#options;
    try {
      while (!signal.aborted) {
        turned();
        this.#poked = Promise.withResolvers<void>();
        const state = await updater.poll(signal);
        await this.#turn(state, signal);
        const active = this.#wasBusy || this.#forward !== null;
        await this.#pause(active ? bounds.updaterPollActiveMs : bounds.updaterPollIdleMs, clock, signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await this.#forward?.done;
    }
  }

  async #pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    const stop = () => waiting.abort();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    await Promise.race([clock.sleep(ms, waiting.signal).catch(() => {}), this.#poked.promise]);
    stop();
    signal.removeEventListener("abort", stop);
  }

  async #turn(state: UpdaterState | null, signal: AbortSignal): Promise<void> {
    const { bounds, bus, clock, log, onChange } = this.#options;
    if (state !== null) {
      if (this.#wasBusy && !state.busy) {
        this.#mustReread = true;
        this.#holdOff = null;
      }
      this.#wasBusy = state.busy;
    }
    if (bus.connected && clock.monotonicMs() >= this.#pausedUntilMs) {
      try {
        await this.#converge(state, signal);
        log.state("upgrade", "upgrade status is up to date", {}, "debug");
      } catch (error) {
        signal.throwIfAborted();
        if (!isFleetError(error)) throw error;
        this.#pausedUntilMs = clock.monotonicMs() + bounds.updaterPollIdleMs;
        log.state("upgrade", "upgrade status cannot be written", { error: errorText(error) }, "warn");
      }
    }
    onChange();
  }

  async #converge(state: UpdaterState | null, signal: AbortSignal): Promise<void> {
    const { intents, mirror } = this.#options;
    if (this.#mustReread || !intents.current) {
      await intents.reread();
      this.#mustReread = false;
    }
    if (state !== null) {
      const newer = {
        intent: intents.newest?.identity ?? null,
        forwarding: this.#forward?.intent.identity ?? null,
      };
      // Somebody else's write in between: what stands there is read again at the next turn.
      if (!await mirror.write(state, newer)) return;
    }
    const forward = this.#forward;
    if (forward !== null && forward.outcome !== null) {
      await this.#settle(forward, forward.outcome, state);
      // The state was asked for before the answer came: nothing may be decided by it.
      if (this.#forward === null) this.poke();
      return;
    }
    const intent = intents.newest;
    if (intent === null) this.#deferred = undefined;
    else if (forward === null) await this.#decide(intent, state, signal);
    else if (forward.intent.identity === intent.identity) this.#deferred = undefined;
    else this.#defer(intent, "UpdaterBusy", "another attempt is on its way");
  }

  /** Makes of the updater's answer what NATS must show. */
  async #settle(forward: Forward, outcome: ForwardOutcome, state: UpdaterState | null): Promise<void> {
    const { bounds, clock, intents, status } = this.#options;
    const { intent } = forward;
    const wanted = intents.newest?.identity === intent.identity;
    if (outcome.kind === "deferred") {
      const { reason, detail } = outcome;
      const untilMs = clock.monotonicMs() + bounds.intentRecheckMs;
      this.#holdOff = { identity: intent.identity, untilMs, reason, detail };
    } else if (outcome.kind !== "accepted" && wanted) {
      // Once no transaction is active: the one status key tells of that one (DESIGN 6, Intent).
      if (state === null || state.busy) return;
      const final = outcome.kind === "rejected"
        ? rejectedStatus(intent, outcome.rejection, this.#author())
        : replayedStatus(intent, outcome.outcome, this.#author());
      if (!await status.write(final)) return;
      this.#tell(intent, outcome.kind === "rejected" ? outcome.rejection.reason : "Replayed");
    }
    this.#forward = null;
  }

  async #decide(intent: Intent, state: UpdaterState | null, signal: AbortSignal): Promise<void> {
    const decision = await this.#decision(intent, state);
    if (decision.kind === "defer") return this.#defer(intent, decision.reason, decision.detail);
    const { clock, status } = this.#options;
    if (decision.kind === "forward") {
      const holdOff = this.#holdOff?.identity === intent.identity ? this.#holdOff : null;
      if (holdOff !== null && clock.monotonicMs() < holdOff.untilMs) {
        return this.#defer(intent, holdOff.reason, holdOff.detail);
      }
      return await this.#send(decision.intent, signal);
    }
    if (decision.kind === "reject") {
      if (!await status.write(rejectedStatus(intent, decision.rejection, this.#author()))) return;
      this.#tell(intent, decision.rejection.reason, decision.rejection.error);
    }
    this.#deferred = undefined;
  }

  async #decision(intent: Intent, updater: UpdaterState | null): Promise<IntentDecision> {
    const { bus, clock, deviceId, facts, freeBytes, status } = this.#options;
    const known: IntentFacts = {
      deviceId,
      arch: facts.arch,
      updater,
      published: await status.read(),
      nowMs: clock.nowMs(),
      clockSkewMs: null,
      freeBytes: null,
    };
    const decision = decideIntent(intent, known);
    // The clock's skew and the disk are measured only where they decide.
    if (decision.kind !== "forward") return decision;
    return decideIntent(intent, { ...known, clockSkewMs: await bus.clockSkewMs(), freeBytes: await freeBytes() });
  }

  async #send(intent: ValidIntent, signal: AbortSignal): Promise<void> {
    const { client, log, status } = this.#options;
    const published = await status.read();
    const announced = published?.phase === "preparing" && identityOf(published) === intent.identity;
    if (!announced && !await status.write(preparingStatus(intent, this.#author()))) return;
    this.#deferred = undefined;
    const { attemptId, targetVersion } = intent.attempt;
    log.info("attempt sent to the updater", { attemptId, targetVersion });
    this.#forward = new Forward(intent, client, signal);
    this.#forward.done.then(() => this.poke());
    this.poke();
  }

  #author(): StatusAuthor {
    const { clock, deviceId, facts } = this.#options;
    return { deviceId, bootId: facts.bootId, nowMs: clock.nowMs() };
  }

  #tell(intent: Intent, reason: string, error?: string): void {
    const attemptId = intent.kind === "attempt" ? intent.attempt.attemptId : intent.attemptId;
    this.#options.log.warn("intent rejected", { attemptId, revision: intent.revision, reason, error });
  }

  #defer(intent: Intent, reason: DeferReason, detail: string): void {
    const { clock, log } = this.#options;
    const attemptId = intent.kind === "attempt" ? intent.attempt.attemptId : intent.attemptId;
    log.state("intent", "intent deferred", { attemptId, revision: intent.revision, reason, detail });
    if (attemptId === undefined) {
      this.#deferred = undefined;
    } else if (this.#deferred?.attemptId !== attemptId || this.#deferred.reason !== reason) {
      this.#deferred = { attemptId, reason, since: new Date(clock.nowMs()).toISOString() };
    }
  }
}
