/**
 * Runs system upgrades: takes an event, makes the next ledger durable, then runs the effects, one at a time. Whatever
 * happens in between, a new runner goes on from the ledger alone.
 *
 * @module
 */
import { FleetError, isFleetError } from "../../contracts/errors.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import { isUpgrading, type Ledger } from "./core/ledger.ts";
import { type BootFacts, recoverRun } from "./core/recover_run.ts";
import type { UpgradeEffect } from "./core/upgrade_effect.ts";
import type { UpgradeEventBody } from "./core/upgrade_event.ts";
import { type UpgradeOutcome, upgradeTransition } from "./core/upgrade_transition.ts";
import { executeStep, type StepContext } from "./execute_step.ts";

/** Where the runner keeps its ledger. */
export interface LedgerKeeper {
  /** Makes a ledger durable before it returns. */
  store(ledger: Ledger): Promise<void>;
}

/** What a runner works with. */
export interface UpgradeRunnerOptions {
  readonly ledger: Ledger;
  readonly store: LedgerKeeper;
  readonly context: StepContext;
  readonly clock: Pick<Clock, "nowMs">;
  readonly log: Logger;
  /** Called once when the state of the disk is unknown or this program is at fault: the process must end. */
  readonly onFatal: (error: unknown) => void;
}

/** Runs the system upgrades of one device, one after the other. */
export class UpgradeRunner {
  readonly #options: UpgradeRunnerOptions;
  #ledger: Ledger;
  readonly #stopping = new AbortController();
  #driving: Promise<void> = Promise.resolve();

  constructor(options: UpgradeRunnerOptions) {
    this.#options = options;
    this.#ledger = options.ledger;
  }

  /** The durable ledger. */
  get ledger(): Ledger {
    return this.#ledger;
  }

  /** Whether a system upgrade is under way. */
  get active(): boolean {
    return isUpgrading(this.#ledger);
  }

  /**
   * Records what a new boot means for the upgrade that was under way; it must be over before the updater is READY, so
   * that nobody sees an upgrade that has ended as one that runs.
   *
   * @param boot The boot
   * @returns a function that goes on with what is left to do
   */
  async recover(boot: BootFacts): Promise<() => void> {
    const effects = await this.#commit(recoverRun(this.#ledger, boot, this.#options.clock.nowMs()));
    return () => this.#drive(effects);
  }

  /**
   * Begins an admitted attempt. It returns when the ledger that holds it is durable.
   *
   * @param body The event
   * @throws {FleetError} What the store throws; the ledger is then the one before
   */
  async accept(body: Extract<UpgradeEventBody, { kind: "AttemptAccepted" }>): Promise<void> {
    let effects: readonly UpgradeEffect[];
    try {
      effects = await this.#apply(body);
    } catch (error) {
      if (isFleetError(error) && error.retry === "fatal") this.#options.onFatal(error);
      throw error;
    }
    this.#drive(effects);
  }

  /** Resolves when the effects that are under way have ended. */
  settled(): Promise<void> {
    return this.#driving;
  }

  /** Begins no more effects, and waits for none that goes on by itself: the next start recovers. */
  async stop(): Promise<void> {
    this.#stopping.abort(new FleetError("the updater is stopping", { code: "E_STOPPING", retry: "transient" }));
    await this.#driving;
  }

  #drive(effects: readonly UpgradeEffect[]): void {
    if (effects.length === 0) return;
    const { context, onFatal, log } = this.#options;
    const { signal } = this.#stopping;
    const before = this.#driving;
    this.#driving = (async () => {
      await before;
      try {
        for (let [effect, ...rest] = effects; effect !== undefined && !signal.aborted;) {
          log.debug("system upgrade step", { effect: effect.kind });
          const body = await executeStep(context, effect, signal);
          if (signal.aborted) return;
          [effect, ...rest] = [...await this.#apply(body), ...rest];
        }
      } catch (error) {
        // What an aborted step throws is the abort itself, not a fault.
        if (!signal.aborted) onFatal(error);
      }
    })();
  }

  #apply(body: UpgradeEventBody): Promise<readonly UpgradeEffect[]> {
    return this.#commit(upgradeTransition(this.#ledger, { ...body, atMs: this.#options.clock.nowMs() }));
  }

  /** Persist, then act: effects of a ledger that is not durable never begin. */
  async #commit({ ledger, effects }: UpgradeOutcome): Promise<readonly UpgradeEffect[]> {
    if (ledger === this.#ledger) return effects;
    await this.#options.store.store(ledger);
    const before = this.#ledger.run;
    this.#ledger = ledger;
    const { run } = ledger;
    if (run !== null && (run.phase !== before?.phase || run.step !== before.step)) {
      const { attempt: { attemptId }, phase, step, finding, reason } = run;
      this.#options.log.info("system upgrade phase", {
        phase,
        attemptId,
        ...(step === "none" ? {} : { step }),
        ...(reason === undefined ? {} : { reason }),
        ...(finding === undefined ? {} : { reason: finding.reason, error: finding.error }),
      });
    }
    return effects;
  }
}
