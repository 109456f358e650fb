/**
 * A service manager in memory that plays programs as systemd with `Type=notify` and `Restart=always` does. Like the
 * real one it outlives the updater: a test that kills the updater keeps it. It sets no timers of its own; automatic
 * restarts that are due happen when it is next asked.
 *
 * @module
 */
import { SERVICE_RESTART_DELAY_MS, SERVICE_START_TIMEOUT_MS } from "../../contracts/limits.ts";
import { type Clock, systemClock } from "../../lib/deadline.ts";
import type { ServiceManager, ServiceState, StartOutcome, StopOutcome } from "../../updater/ports.ts";
import type { ServiceProgram } from "./service_program.ts";

/** Options of {@link FakeServiceManager}. */
export interface FakeServiceOptions {
  /** The program that is selected now; asked at each start, so that it can follow a link. */
  readonly program: () => ServiceProgram;
  /** @default the machine's clock */
  readonly clock?: Clock;
  /** @default the limit */
  readonly startTimeoutMs?: number;
  /** @default the limit */
  readonly restartDelayMs?: number;
}

type Failed = Extract<StartOutcome, { kind: "failed" }>;

const CLEAN_SIGNALS = new Set(["SIGHUP", "SIGINT", "SIGTERM", "SIGPIPE"]);

function resultOf(
  { does, exitCode = 0, signal = "SIGKILL" }: ServiceProgram,
): Pick<Failed, "result"> & Partial<Failed> {
  if (does === "signal") return { result: CLEAN_SIGNALS.has(signal) ? "protocol" : "signal", signal };
  return exitCode === 0 ? { result: "protocol", exitCode } : { result: "exit-code", exitCode };
}

/** A service manager in memory. */
export class FakeServiceManager implements ServiceManager {
  readonly unit = "fleet-agent.service";
  /** Every call so far, by name. */
  readonly calls: ("start" | "stop" | "resetFailed")[] = [];
  /** Outcomes of the next starts, in order, in place of what the program would do; the state stays as it is. */
  readonly startOutcomes: StartOutcome[] = [];
  /** Outcomes of the next stops, likewise. */
  readonly stopOutcomes: StopOutcome[] = [];
  readonly #options: FakeServiceOptions;
  readonly #clock: Clock;
  #active: ServiceState["active"] = "inactive";
  #running: ServiceProgram | null = null;
  #statusText: string | undefined;
  #restarts = 0;
  #invocations = 0;
  #restartDueMs: number | null = null;
  #starting: AbortController | null = null;

  constructor(options: FakeServiceOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** How often a program has been started. */
  get starts(): number {
    return this.#invocations;
  }

  /** The program that runs now, ready or not. */
  get running(): ServiceProgram | null {
    this.#restartIfDue();
    return this.#running;
  }

  async start(): Promise<StartOutcome> {
    this.calls.push("start");
    const scripted = this.startOutcomes.shift();
    if (scripted !== undefined) return scripted;
    this.#restartIfDue();
    if (this.#active === "active") return { kind: "ready", invocationId: this.#invocationId() };
    // A program that an automatic restart has begun is waited for; one that is due is not.
    const program = this.#running ?? this.#begin();
    if (program.does === "ready") return { kind: "ready", invocationId: this.#invocationId() };
    if (program.does === "ready-and-exit") return this.#readyAndExit();
    if (program.does !== "wait") return this.#fail(program, resultOf(program), 0);
    return await this.#wait(program);
  }

  stop(): Promise<StopOutcome> {
    this.calls.push("stop");
    const scripted = this.stopOutcomes.shift();
    if (scripted !== undefined) return Promise.resolve(scripted);
    this.#starting?.abort();
    const killed = this.#running?.ignoresTerm === true;
    this.#end();
    this.#restartDueMs = null;
    this.#restarts = 0;
    this.#statusText = undefined;
    this.#active = killed ? "failed" : "inactive";
    return Promise.resolve({ kind: "stopped" });
  }

  resetFailed(): Promise<void> {
    this.calls.push("resetFailed");
    if (this.#active === "failed") this.#active = "inactive";
    return Promise.resolve();
  }

  show(): Promise<ServiceState> {
    this.#restartIfDue();
    return Promise.resolve({
      active: this.#active,
      restarts: this.#restarts,
      ...(this.#running === null ? {} : { mainPid: 1_000 + this.#invocations }),
      ...(this.#invocations === 0 ? {} : { invocationId: this.#invocationId() }),
      ...(this.#statusText === undefined ? {} : { statusText: this.#statusText }),
    });
  }

  /** The program ends, as by a crash. */
  crash(): void {
    if (this.#running === null) return;
    this.#scheduleRestart();
  }

  #invocationId(): string {
    return `${this.#invocations}`.padStart(32, "0");
  }

  #begin(): ServiceProgram {
    const program = this.#options.program();
    this.#invocations++;
    this.#running = program;
    this.#restartDueMs = null;
    this.#statusText = program.statusText;
    this.#active = program.does === "ready" ? "active" : "activating";
    return program;
  }

  #end(): void {
    this.#running = null;
    this.#starting = null;
  }

  #scheduleRestart(): void {
    this.#end();
    this.#active = "activating";
    this.#restartDueMs = this.#clock.monotonicMs() + (this.#options.restartDelayMs ?? SERVICE_RESTART_DELAY_MS);
  }

  #restartIfDue(): void {
    while (this.#restartDueMs !== null && this.#clock.monotonicMs() >= this.#restartDueMs) {
      this.#restarts++;
      const program = this.#begin();
      if (program.does !== "ready" && program.does !== "wait") this.#scheduleRestart();
    }
  }

  #readyAndExit(): StartOutcome {
    const invocationId = this.#invocationId();
    this.#scheduleRestart();
    return { kind: "ready", invocationId };
  }

  #fail(program: ServiceProgram, result: Pick<Failed, "result"> & Partial<Failed>, durationMs: number): StartOutcome {
    const invocationId = this.#invocationId();
    this.#scheduleRestart();
    return {
      kind: "failed",
      lastLines: program.output ?? [],
      durationMs,
      invocationId,
      ...(program.statusText === undefined ? {} : { statusText: program.statusText }),
      ...result,
    };
  }

  async #wait(program: ServiceProgram): Promise<StartOutcome> {
    const starting = new AbortController();
    this.#starting = starting;
    const startTimeoutMs = this.#options.startTimeoutMs ?? SERVICE_START_TIMEOUT_MS;
    try {
      await this.#clock.sleep(startTimeoutMs, starting.signal);
    } catch {
      return { kind: "no-verdict", why: "canceled", message: "a stop came before the agent was ready" };
    }
    return this.#fail(program, { result: "timeout" }, startTimeoutMs);
  }
}
