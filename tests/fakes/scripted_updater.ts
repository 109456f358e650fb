/**
 * An updater whose transactions a test moves by hand: admission, idempotence and answers are those of the protocol, and
 * every attempt that begins is counted.
 *
 * @module
 */
import { type AgentUpgradeAttempt, isTerminalPhase } from "../../contracts/agent_upgrade.ts";
import { canonicalDigest } from "../../contracts/digest.ts";
import { binaryPath, managedPaths } from "../../contracts/managed_paths.ts";
import {
  type AttemptOutcome,
  type DurablePhase,
  encodeUpdaterResponse,
  type TransactionView,
  type UpdaterErrorCode,
  updaterRequest,
  type UpdaterResponse,
  type UpdaterState,
} from "../../contracts/updater_protocol.ts";
import { updaterStateOf, viewOf } from "./agent_samples.ts";

const PATHS = managedPaths("");

/** The durable phases that leave the updater with nothing to do. */
const ENDED: ReadonlySet<DurablePhase> = new Set(["committed", "failed", "rollback-failed"]);

interface Waiting {
  readonly attemptId: string;
  answer(response: UpdaterResponse): void;
}

/** An updater whose transactions a test moves by hand. */
export class ScriptedUpdater {
  /** UUIDs of the attempts that began, in order: one that stands there twice ran twice. */
  readonly began: string[] = [];
  /** How many upgrade requests came. */
  requests = 0;
  /** How many status requests came. */
  polls = 0;
  /** When set, the next upgrade is refused with it. */
  refuseNext: { code: UpdaterErrorCode; retryable: boolean } | null = null;
  /** Called when an upgrade request has been decided on, before it is answered. */
  onUpgrade: () => void = () => {};
  /** When set, what status requests are answered with instead. */
  answerStatusWith: unknown = undefined;
  /** Phases that a new attempt goes through at once. Default none: the test moves it. */
  script: readonly DurablePhase[] = [];
  #transaction: TransactionView | null = null;
  #quarantined = false;
  readonly #history: AttemptOutcome[] = [];
  readonly #waiting = new Set<Waiting>();
  readonly #nowMs: () => number;

  /** @param nowMs Clock of the device. Default the machine's */
  constructor(nowMs: () => number = () => Date.now()) {
    this.#nowMs = nowMs;
  }

  /** What it answers to a status request. */
  get state(): UpdaterState {
    return updaterStateOf(this.#transaction, { quarantined: this.#quarantined });
  }

  /** The transaction's durable phase, or null. */
  get phase(): DurablePhase | null {
    return this.#transaction?.phase ?? null;
  }

  /** Answers one request of the protocol. */
  async answer(request: unknown): Promise<unknown> {
    const decoded = updaterRequest(request, "");
    if (decoded.request === "status") {
      this.polls++;
      return this.answerStatusWith ?? encodeUpdaterResponse({ ok: true, state: this.state });
    }
    if (decoded.request === "system-upgrade") throw new Error("the scripted updater makes no system upgrades");
    this.requests++;
    const answer = this.#upgrade(decoded.attempt, canonicalDigest(decoded.document));
    this.onUpgrade();
    return encodeUpdaterResponse(await answer);
  }

  /** Puts a transaction in place, as one that an earlier life of the agent began. */
  place(attempt: AgentUpgradeAttempt, phase: DurablePhase): void {
    this.#begin(attempt, canonicalDigest(attempt));
    this.move(phase);
  }

  /** Moves the transaction; the end of it answers whoever waits. */
  move(phase: DurablePhase, reason?: string): void {
    const transaction = this.#transaction;
    if (transaction === null) throw new Error("there is no transaction to move");
    const at = new Date(this.#nowMs()).toISOString();
    const next = viewOf(attemptOfView(transaction), phase).status;
    const status = {
      ...transaction.status,
      phase: next.phase,
      updatedAt: at,
      transitions: [...transaction.status.transitions, { phase: next.phase, at }],
      ...(reason === undefined ? {} : { reason }),
    };
    this.#transaction = { ...transaction, phase, status };
    this.#quarantined = phase === "rollback-failed";
    if (!ENDED.has(phase)) return;
    const { attemptId, attemptDigest } = transaction;
    const outcome = { attemptId, attemptDigest, phase: next.phase, at };
    this.#history.push(outcome);
    this.#settle(attemptId, { ok: true, state: this.state, outcome });
  }

  /** Loses the journal. */
  forget(): void {
    this.#transaction = null;
    this.#history.length = 0;
  }

  async #upgrade(attempt: AgentUpgradeAttempt, digest: string): Promise<UpdaterResponse> {
    const { attemptId } = attempt;
    if (this.refuseNext !== null) {
      const { code, retryable } = this.refuseNext;
      this.refuseNext = null;
      return refusal(code, retryable);
    }
    const running = this.#transaction;
    const earlier = this.#history.find((outcome) => outcome.attemptId === attemptId);
    const known = running?.attemptId === attemptId ? running.attemptDigest : earlier?.attemptDigest;
    if (known !== undefined && known !== digest) return refusal("E_UUID_REUSED", false);
    if (earlier !== undefined) return { ok: true, state: this.state, outcome: earlier };
    if (known !== undefined) return await this.#answerLater(attemptId);
    if (this.#quarantined) return refusal("E_QUARANTINED", true);
    if (running !== null && !isTerminalPhase(running.status.phase)) return refusal("E_BUSY", true);
    this.#begin(attempt, digest);
    const answer = this.#answerLater(attemptId);
    for (const phase of this.script) this.move(phase);
    return await answer;
  }

  #begin(attempt: AgentUpgradeAttempt, digest: string): void {
    const at = new Date(this.#nowMs()).toISOString();
    this.began.push(attempt.attemptId);
    const times = { startedAt: at, updatedAt: at, attemptDigest: digest };
    this.#transaction = {
      ...viewOf(attempt, "preparing", { ...times, transitions: [{ phase: "preparing", at }] }),
      attemptDigest: digest,
      previousPath: binaryPath(PATHS, "1.0.0"),
    };
  }

  #answerLater(attemptId: string): Promise<UpdaterResponse> {
    return new Promise((answer) => this.#waiting.add({ attemptId, answer }));
  }

  #settle(attemptId: string, response: UpdaterResponse): void {
    for (const waiting of [...this.#waiting]) {
      if (waiting.attemptId !== attemptId) continue;
      this.#waiting.delete(waiting);
      waiting.answer(response);
    }
  }
}

function refusal(code: UpdaterErrorCode, retryable: boolean): UpdaterResponse {
  const failureClass = retryable ? "environment" : "policy";
  return { ok: false, error: { code, message: `refused with ${code}`, failureClass, retryable } };
}

function attemptOfView({ attemptId, targetVersion, status }: TransactionView): AgentUpgradeAttempt {
  return {
    schema: 1,
    attemptId,
    deviceId: status.deviceId,
    targetVersion,
    arch: "x86_64",
    artifact: { url: "https://artifacts.example/fleet-agent", maxBytes: 1, sha256: "a".repeat(64) },
  };
}
