/**
 * Supervises the agent from a start to the next stop, as systemd does with `Restart=always`: it starts the program,
 * waits for READY, and starts it again whenever it has ended.
 *
 * @module
 */
import { errorText } from "../../contracts/errors.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import type { StartOutcome } from "../ports.ts";
import { lastLines } from "../process/output_lines.ts";
import { type ProcessExit, SpawnError } from "./agent_process.ts";
import type { AgentRun } from "./agent_run.ts";
import { startResult } from "./start_result.ts";
import type { Termination } from "./terminate.ts";

/** What a supervision works with. */
export interface SupervisionContext {
  /** Starts the program that is selected now. @throws {SpawnError} */
  launch(): Promise<AgentRun>;
  /** Ends what is left of a run, or of anything that no run knows of. */
  clear(run: AgentRun | null): Promise<Termination>;
  /** Takes every notification that has been sent. */
  flushNotifications(): Promise<void>;
  /** The end of the program's output. */
  outputTail(): Uint8Array;
  /** A run has become ready. */
  onReady(run: AgentRun): void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly startTimeoutMs: number;
  readonly restartDelayMs: number;
  /** Silence after READY for which a run is ended; left out: none. */
  readonly watchdogMs?: number;
}

/** Where a supervision stands. */
export type SupervisionPhase = "starting" | "running" | "ending" | "restarting";

/** systemd's exit code of a program that could not be executed. */
const EXIT_EXEC = 203;

type RunEvent =
  | { readonly kind: "ready" }
  | { readonly kind: "exited"; readonly exit: ProcessExit }
  | { readonly kind: "timeout" }
  | { readonly kind: "ended" };

/** Supervises the agent from a start to the next stop. */
export class Supervision {
  readonly #context: SupervisionContext;
  readonly #ending = new AbortController();
  readonly #waiting = new Set<(outcome: StartOutcome) => void>();
  #pause = new AbortController();
  #phase: SupervisionPhase = "starting";
  #run: AgentRun | null = null;
  #restarts = 0;
  /** Resolves once it has ended; the last run may live on. */
  readonly done: Promise<void>;

  /**
   * Begins at once.
   *
   * @param adopted A run that is ready already, of an earlier updater
   */
  constructor(context: SupervisionContext, adopted: AgentRun | null) {
    this.#context = context;
    this.#run = adopted;
    if (adopted !== null) this.#phase = "running";
    this.done = this.#supervise();
  }

  get phase(): SupervisionPhase {
    return this.#phase;
  }

  /** The current run, or the last one. */
  get run(): AgentRun | null {
    return this.#run;
  }

  /** Automatic restarts so far. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Aborts when it ends. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** The outcome of the start that is under way, or of the next one, which then begins at once. */
  nextOutcome(): Promise<StartOutcome> {
    const { promise, resolve } = Promise.withResolvers<StartOutcome>();
    this.#waiting.add(resolve);
    this.#pause.abort();
    return promise;
  }

  /**
   * Ends it. The run is left alone.
   *
   * @param outcome What those who wait for a start are told
   */
  end(outcome: StartOutcome): void {
    this.#ending.abort();
    this.#pause.abort();
    this.#answer(outcome);
  }

  #answer(outcome: StartOutcome): void {
    for (const resolve of this.#waiting) resolve(outcome);
    this.#waiting.clear();
  }

  async #supervise(): Promise<void> {
    const { clear, clock, log, restartDelayMs } = this.#context;
    while (!this.signal.aborted) {
      if (this.#phase === "running" || await this.#start()) await this.#untilEnd();
      if (this.signal.aborted) return;
      this.#phase = "ending";
      await clear(this.#run);
      if (this.signal.aborted) return;
      this.#phase = "restarting";
      this.#restarts++;
      this.#pause = new AbortController();
      // Whoever waits for a start does not wait for the pause.
      if (this.#waiting.size === 0) await clock.sleep(restartDelayMs, this.#pause.signal).catch(() => {});
      log.debug("agent restarting", { restarts: this.#restarts });
    }
  }

  /** Starts the program, answers those who wait, and gives whether it is ready. */
  async #start(): Promise<boolean> {
    this.#phase = "starting";
    const outcome = await this.#outcome();
    if (outcome === null) return false;
    if (outcome.kind === "ready") this.#phase = "running";
    this.#answer(outcome);
    return outcome.kind === "ready";
  }

  /** Null when the supervision ended before the start did. */
  async #outcome(): Promise<StartOutcome | null> {
    const { clear, launch, startTimeoutMs, clock, log, onReady, flushNotifications } = this.#context;
    if (await clear(null) === "left") {
      return { kind: "no-verdict", why: "refused", message: "a process of the agent is left and cannot be killed" };
    }
    if (this.signal.aborted) return null;
    let run: AgentRun;
    try {
      run = await launch();
    } catch (error) {
      return spawnFailure(error);
    }
    this.#run = run;
    log.info("agent started", { pid: run.process.pid, invocationId: run.invocationId });
    const event = await this.#firstEvent(run, {
      timeout: (signal) => clock.sleep(startTimeoutMs, signal),
      ready: run.ready,
    });
    if (event.kind === "ended") return null;
    // Its last words count, also those that it said right before its end.
    if (event.kind !== "ready") await flushNotifications();
    if (!run.isReady) return this.#failure(run, event);
    log.info("agent ready", { pid: run.process.pid, durationMs: this.#ageMs(run) });
    onReady(run);
    return { kind: "ready", invocationId: run.invocationId };
  }

  #ageMs(run: AgentRun): number {
    return Math.round(this.#context.clock.monotonicMs() - run.startedMs);
  }

  #failure(run: AgentRun, event: RunEvent): StartOutcome {
    const { outputTail, log } = this.#context;
    const end = event.kind === "exited" ? startResult(event.exit) : { result: "timeout" as const };
    const durationMs = this.#ageMs(run);
    log.warn("agent not ready", { pid: run.process.pid, ...end, statusText: run.statusText, durationMs });
    return {
      kind: "failed",
      ...end,
      lastLines: lastLines(outputTail()),
      durationMs,
      invocationId: run.invocationId,
      ...(run.statusText === undefined ? {} : { statusText: run.statusText }),
    };
  }

  /** Waits while a ready run lives and says so. */
  async #untilEnd(): Promise<void> {
    const { log, watchdogMs } = this.#context;
    const run = this.#run;
    if (run === null) return;
    const event = await this.#firstEvent(run, {
      timeout: (signal) => this.#untilSilent(run, signal),
      ready: new Promise(() => {}),
    });
    if (event.kind === "timeout") log.warn("agent silent", { pid: run.process.pid, watchdogMs });
    if (event.kind === "exited") log.warn("agent ended", { pid: run.process.pid, ...event.exit });
  }

  /** Resolves when a run has not said for too long that it is alive. */
  async #untilSilent(run: AgentRun, signal: AbortSignal): Promise<void> {
    const { clock, watchdogMs } = this.#context;
    if (watchdogMs === undefined) return await new Promise(() => {});
    for (;;) {
      const restMs = run.aliveMs + watchdogMs - clock.monotonicMs();
      if (restMs <= 0) return;
      await clock.sleep(restMs, signal);
    }
  }

  /** What happens first to a run. */
  async #firstEvent(
    run: AgentRun,
    { timeout, ready }: { readonly timeout: (signal: AbortSignal) => Promise<void>; readonly ready: Promise<void> },
  ): Promise<RunEvent> {
    const { promise, resolve } = Promise.withResolvers<RunEvent>();
    const onEnd = () => resolve({ kind: "ended" });
    if (this.signal.aborted) onEnd();
    this.signal.addEventListener("abort", onEnd, { once: true });
    const timing = new AbortController();
    timeout(timing.signal).then(() => resolve({ kind: "timeout" }), () => {});
    ready.then(() => resolve({ kind: "ready" }), () => {});
    run.process.exited.then((exit) => resolve({ kind: "exited", exit }), () => {});
    try {
      return await promise;
    } finally {
      timing.abort();
      this.signal.removeEventListener("abort", onEnd);
    }
  }
}

function spawnFailure(error: unknown): StartOutcome {
  const message = errorText(error);
  // A machine without room for a process says nothing about the program.
  if (!(error instanceof SpawnError) || error.resources) return { kind: "no-verdict", why: "refused", message };
  return { kind: "failed", result: "exit-code", exitCode: EXIT_EXEC, lastLines: [message], durationMs: 0 };
}
