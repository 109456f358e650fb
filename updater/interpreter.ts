/**
 * Runs transactions: takes an event, makes the next record durable, then runs the effects, one at a time. Whatever
 * happens in between, a new interpreter goes on from the journal alone.
 *
 * @module
 */
import { FleetError, isFleetError } from "../contracts/errors.ts";
import type { Clock } from "../lib/deadline.ts";
import type { Logger } from "../lib/log.ts";
import { type Effect, SERVICE_EFFECTS } from "./core/effect.ts";
import type { EventBody } from "./core/event.ts";
import { isActive, leadsToTheSame, publicPhase, type UpdaterRecord } from "./core/record.ts";
import { recover } from "./core/recover.ts";
import { type Outcome, transition } from "./core/transition.ts";
import { type EffectContext, execute } from "./effects.ts";

/** Where the interpreter keeps its record. */
export interface RecordStore {
  /**
   * Makes a record durable before it returns.
   *
   * @param record The record
   * @param options `spare`: a full disk may keep the record before, and no reserve is used
   */
  store(record: UpdaterRecord, options: { readonly spare: boolean }): Promise<void>;
}

/** What an interpreter works with. */
export interface InterpreterOptions {
  readonly record: UpdaterRecord;
  readonly store: RecordStore;
  readonly context: EffectContext;
  /** Called once when the state of the disk is unknown or this program is at fault: the process must end. */
  readonly onFatal: (error: unknown) => void;
}

/** Runs the transactions of one device, one after the other. */
export class Interpreter {
  #record: UpdaterRecord;
  readonly #store: RecordStore;
  readonly #context: EffectContext;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #onFatal: (error: unknown) => void;
  readonly #stopping = new AbortController();
  readonly #watchers = new Set<() => void>();
  #waits = 0;
  #driving: Promise<void> = Promise.resolve();

  constructor({ record, store, context, onFatal }: InterpreterOptions) {
    this.#record = record;
    this.#store = store;
    this.#context = context;
    this.#clock = context.clock;
    this.#log = context.log;
    this.#onFatal = onFatal;
  }

  /** The durable record. */
  get record(): UpdaterRecord {
    return this.#record;
  }

  /** Whether the process is ending: no more effects begin, and what they return is no verdict. */
  get stopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /**
   * The part of the recovery that must be over before the updater is READY: the link restored, the phase persisted.
   *
   * @returns a function that begins the rest, which stops and starts the service
   */
  async recover(): Promise<() => void> {
    let effects = await this.#commit(recover(this.#record, this.#clock.nowMs()));
    while (effects.length > 0 && !effects.some(({ kind }) => SERVICE_EFFECTS.has(kind))) {
      effects = await this.#step(effects);
    }
    return () => this.#drive(effects);
  }

  /**
   * Takes an event from outside: an admitted attempt, or root's repair. It returns when the event's record is durable;
   * the effects run behind it.
   *
   * @param body The event
   * @throws {FleetError} What the store throws; the record is then the one before
   */
  async take(body: EventBody): Promise<void> {
    let effects: readonly Effect[];
    try {
      effects = await this.#apply(body);
    } catch (error) {
      if (isFleetError(error) && error.retry === "fatal") this.#onFatal(error);
      throw error;
    }
    this.#drive(effects);
  }

  /**
   * Waits until no transaction is active, or the interpreter stops.
   *
   * @param signal Ends the wait
   */
  async idle(signal: AbortSignal): Promise<void> {
    const any = AbortSignal.any([signal, this.#stopping.signal]);
    while (isActive(this.#record) && !any.aborted) await this.#changed(any);
  }

  /** Resolves when the effects that are under way have ended, for repairs and tests. */
  settled(): Promise<void> {
    return this.#driving;
  }

  /** Begins no more effects and ends the ones that can be ended; the phase stays, and the next start recovers. */
  async stop(): Promise<void> {
    this.#stopping.abort(new FleetError("the updater is stopping", { code: "E_STOPPING", retry: "transient" }));
    await this.#driving;
  }

  #changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#watchers.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#watchers.add(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }

  #drive(effects: readonly Effect[]): void {
    if (effects.length === 0) return;
    const before = this.#driving;
    this.#driving = (async () => {
      await before;
      try {
        for (let next = effects; next.length > 0 && !this.stopping;) next = await this.#step(next);
      } catch (error) {
        // What an aborted effect throws is the abort itself, not a fault.
        if (!this.stopping) this.#onFatal(error);
      }
    })();
  }

  async #step([effect, ...rest]: readonly Effect[]): Promise<readonly Effect[]> {
    if (effect === undefined) return rest;
    this.#log.debug("effect", { effect: effect.kind });
    const body = await execute(this.#context, effect, { signal: this.#stopping.signal, waits: this.#waits });
    this.#waits = effect.kind === "Wait" ? this.#waits + 1 : this.#waits;
    if (this.stopping) return [];
    return [...await this.#apply(body), ...rest];
  }

  #apply(body: EventBody): Promise<readonly Effect[]> {
    return this.#commit(transition(this.#record, { ...body, atMs: this.#clock.nowMs() }), body);
  }

  /** Persist, then act: effects of a record that is not durable never begin. */
  async #commit({ record, effects }: Outcome, body?: EventBody): Promise<readonly Effect[]> {
    if (record === this.#record) return effects;
    // An outage that is told in ever other words must not use up the reserve that its end needs.
    await this.#store.store(record, { spare: leadsToTheSame(this.#record, record) });
    const before = this.#record.transaction;
    this.#record = record;
    const now = record.transaction;
    if (now !== null && (before === null || publicPhase(before) !== publicPhase(now))) {
      this.#waits = 0;
      this.#log.info("upgrade phase", {
        phase: publicPhase(now),
        attemptId: now.attempt.attemptId,
        targetVersion: now.attempt.targetVersion,
        ...(body === undefined ? {} : { event: body.kind }),
        ...(now.finding === undefined ? {} : { reason: now.finding.reason, error: now.finding.error }),
      });
    }
    for (const wake of [...this.#watchers]) wake();
    return effects;
  }
}
