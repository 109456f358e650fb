/**
 * The part of an updater that upgrades the system, as its socket shows it, whose runs a test moves by hand.
 *
 * @module
 */
import { canonicalDigest } from "../../contracts/digest.ts";
import {
  APT_FULL_UPGRADE_V1,
  isTerminalSystemPhase,
  type SystemUpgradePhase,
  type SystemUpgradeReason,
  type SystemUpgradeStatus,
} from "../../contracts/system_upgrade.ts";
import {
  encodeUpdaterResponse,
  type UpdaterErrorCode,
  updaterRequest,
  type UpdaterState,
} from "../../contracts/updater_protocol.ts";
import { updaterStateOf } from "./agent_samples.ts";

/** An updater that has apt, and whose runs a test moves by hand. */
export class FakeLedger {
  /** Runs that began, in order: one that stands there twice ran twice. */
  readonly began: string[] = [];
  /** How many requests for a system upgrade came. */
  requests = 0;
  /** Whether an agent upgrade is under way. */
  agentBusy = false;
  capabilities: string[] = ["https", APT_FULL_UPGRADE_V1];
  ledgerProblem: string | undefined;
  /** When set, the next attempt is refused with it. */
  refuseNext: { readonly code: UpdaterErrorCode; readonly retryable: boolean } | null = null;
  #last: SystemUpgradeStatus | undefined;
  readonly #ended = new Map<string, SystemUpgradeStatus>();
  readonly #nowMs: () => number;

  /** @param nowMs Clock of the device */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The run that runs or ran last. */
  get last(): SystemUpgradeStatus | undefined {
    return this.#last;
  }

  get state(): UpdaterState {
    const running = this.#last !== undefined && !isTerminalSystemPhase(this.#last.phase);
    return {
      ...updaterStateOf(null),
      capabilities: this.capabilities,
      busy: this.agentBusy || running,
      ...(this.#last === undefined ? {} : { systemUpgrade: this.#last }),
      ...(this.ledgerProblem === undefined ? {} : { ledgerProblem: this.ledgerProblem }),
    };
  }

  /** Moves the last run. */
  move(phase: SystemUpgradePhase, reason?: SystemUpgradeReason): void {
    if (this.#last === undefined) throw new RangeError("there is no run to move");
    const at = new Date(this.#nowMs()).toISOString();
    const transitions = [...this.#last.transitions, { phase, at }];
    this.#last = { ...this.#last, phase, updatedAt: at, transitions, ...(reason === undefined ? {} : { reason }) };
    if (!isTerminalSystemPhase(phase)) return;
    this.#last = { ...this.#last, completedAt: at };
    this.#ended.set(this.#last.attemptId, this.#last);
  }

  /** Forgets everything, as a lost disk does. */
  forget(): void {
    this.#last = undefined;
    this.#ended.clear();
  }

  /** Answers one request of the protocol. */
  answer(request: unknown): unknown {
    const decoded = updaterRequest(request, "");
    if (decoded.request === "status") return encodeUpdaterResponse({ ok: true, state: this.state });
    if (decoded.request !== "system-upgrade") throw new Error("this updater makes system upgrades only");
    this.requests++;
    const { attempt, document } = decoded;
    const known = this.#last?.attemptId === attempt.attemptId ? this.#last : this.#ended.get(attempt.attemptId);
    if (known !== undefined) return encodeUpdaterResponse({ ok: true, state: this.state, systemUpgrade: known });
    const { refuseNext } = this;
    if (refuseNext !== null) {
      this.refuseNext = null;
      const error = { ...refuseNext, message: "refused by the test", failureClass: "environment" } as const;
      return encodeUpdaterResponse({ ok: false, error });
    }
    const at = new Date(this.#nowMs()).toISOString();
    this.began.push(attempt.attemptId);
    const systemUpgrade: SystemUpgradeStatus = {
      schema: 1,
      attemptId: attempt.attemptId,
      runId: attempt.runId,
      deviceId: attempt.deviceId,
      attemptDigest: canonicalDigest(document),
      operation: attempt.operation,
      phase: "checking",
      startedAt: at,
      updatedAt: at,
      transitions: [{ phase: "checking", at }],
    };
    this.#last = systemUpgrade;
    return encodeUpdaterResponse({ ok: true, state: this.state, systemUpgrade });
  }
}
