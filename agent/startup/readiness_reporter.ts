/**
 * Says where the start stands: to the service manager as `STATUS=`, to the log, and to whoever publishes device info
 * (DESIGN 6).
 *
 * @module
 */
import { errorText } from "../../contracts/errors.ts";
import { bounded } from "../../contracts/formats.ts";
import { formatReadinessStatus, type ReadinessStep } from "../../contracts/readiness.ts";
import type { Logger } from "../../lib/log.ts";
import type { Notifier } from "../../lib/systemd/notify.ts";

/** Where the start stands. */
export interface ReadinessState {
  readonly step: ReadinessStep;
  /** What the step waits for, if it waits. */
  readonly blocked?: string;
}

/** Says where the start stands. */
export class ReadinessReporter {
  readonly #notifier: Pick<Notifier, "notify">;
  readonly #log: Logger;
  #state: ReadinessState = { step: "config" };

  constructor(notifier: Pick<Notifier, "notify">, log: Logger) {
    this.#notifier = notifier;
    this.#log = log;
  }

  /** Where the start stands. */
  get state(): ReadinessState {
    return this.#state;
  }

  /**
   * A step begins.
   *
   * @param step The step
   * @param message What it does, for people
   */
  async enter(step: ReadinessStep, message: string): Promise<void> {
    this.#state = { step };
    this.#log.debug("startup step", { step });
    await this.#notifier.notify({ status: formatReadinessStatus(step, message) });
  }

  /**
   * A step waits.
   *
   * @param step The step
   * @param error What keeps it
   * @param leftMs How long it still tries, in ms; null for without end
   */
  async wait(step: ReadinessStep, error: unknown, leftMs: number | null): Promise<void> {
    const why = bounded(errorText(error));
    this.#state = { step, blocked: why };
    this.#log.state("startup", "startup waits", { step, why }, "warn");
    const rest = leftMs === null ? "waiting" : `trying for ${Math.ceil(leftMs / 1_000)} s more`;
    await this.#notifier.notify({ status: formatReadinessStatus(step, `${why}, ${rest}`) });
  }

  /** Every step is taken; READY has said so. */
  ready(): void {
    this.#state = { step: "ready" };
  }

  /**
   * The start has failed: the last words that the service manager keeps.
   *
   * @param step The step
   * @param error Why
   */
  async fail(step: ReadinessStep, error: unknown): Promise<void> {
    const why = bounded(errorText(error));
    this.#state = { step, blocked: why };
    await this.#notifier.notify({ status: formatReadinessStatus(step, why) });
  }
}
