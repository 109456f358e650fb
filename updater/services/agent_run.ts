/**
 * One run of the agent's program: what it has said of itself, and how it is waited for.
 *
 * @module
 */
import type { Notification } from "../../lib/systemd/notification.ts";
import type { AgentProcess } from "./agent_process.ts";

/** One run of the agent's program. */
export class AgentRun {
  readonly process: AgentProcess;
  readonly invocationId: string;
  /** Monotonic, in ms. */
  readonly startedMs: number;
  readonly #ready = Promise.withResolvers<void>();
  #isReady: boolean;
  #statusText: string | undefined;
  #aliveMs: number;

  constructor(process: AgentProcess, invocationId: string, startedMs: number, isReady = false) {
    this.process = process;
    this.invocationId = invocationId;
    this.startedMs = startedMs;
    this.#isReady = isReady;
    this.#aliveMs = startedMs;
    if (isReady) this.#ready.resolve();
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Resolves when it has sent READY. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Its last `STATUS=`. */
  get statusText(): string | undefined {
    return this.#statusText;
  }

  /** When it last said that it is alive: its start, its READY, or a watchdog message; monotonic, in ms. */
  get aliveMs(): number {
    return this.#aliveMs;
  }

  /**
   * Takes a notification of the service.
   *
   * @param notification What was said
   * @param nowMs Monotonic time, in ms
   * @returns false when it speaks for another process and was not taken
   */
  take(notification: Notification, nowMs: number): boolean {
    const { mainPid, ready, status, watchdog } = notification;
    // A process that is ending may still speak while its successor starts.
    if (mainPid !== undefined && mainPid !== this.process.pid) return false;
    if (status !== undefined) this.#statusText = status;
    if (watchdog === true) this.#aliveMs = nowMs;
    // The runtime tells no sender: READY counts only from who names the main process.
    if (ready !== true) return true;
    if (mainPid === undefined) return false;
    this.#isReady = true;
    this.#aliveMs = nowMs;
    this.#ready.resolve();
    return true;
  }
}
