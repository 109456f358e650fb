/**
 * One attempt on its way to the updater (`Fleet agent upgrades`, Preparation: one upgrade request).
 *
 * @module
 */
import { errorText, type FleetError, isFleetError } from "../../contracts/errors.ts";
import { SOCKET_UPGRADE_TIMEOUT_MS } from "../../contracts/limits.ts";
import type { UpdaterResponse } from "../../contracts/updater_protocol.ts";
import { identityOf } from "../core/attempt_identity.ts";
import { rejectionOfRefusal } from "../core/attempt_status.ts";
import type { DeferReason, Rejection } from "../core/decide_intent.ts";
import type { ValidIntent } from "../core/intent.ts";
import type { AttemptOutcome } from "../../contracts/updater_protocol.ts";
import type { UpdaterClient } from "./updater_client.ts";

/** What the answer to a forwarded attempt means. */
export type ForwardOutcome =
  /** The updater has it: the mirror tells the rest. */
  | { readonly kind: "accepted" }
  /** It ran earlier, and is not run again. */
  | { readonly kind: "replayed"; readonly outcome: AttemptOutcome }
  /** It will never run. */
  | { readonly kind: "rejected"; readonly rejection: Rejection }
  /** It may run later. */
  | { readonly kind: "deferred"; readonly reason: DeferReason; readonly detail: string };

/**
 * What an answer means for the attempt that was sent.
 *
 * @param intent The attempt
 * @param response The answer
 */
export function judgeResponse(intent: ValidIntent, response: UpdaterResponse): ForwardOutcome {
  if (response.ok) {
    const { outcome, state: { transaction } } = response;
    if (transaction !== null && identityOf(transaction) === intent.identity) return { kind: "accepted" };
    if (outcome !== undefined && identityOf(outcome) === intent.identity) return { kind: "replayed", outcome };
    return { kind: "deferred", reason: "UpdaterRefused", detail: "the updater answered for another attempt" };
  }
  const { code, message, retryable } = response.error;
  if (!retryable) return { kind: "rejected", rejection: rejectionOfRefusal(response.error) };
  const reason = code === "E_BUSY" ? "UpdaterBusy" : code === "E_QUARANTINED" ? "UpdaterQuarantined" : "UpdaterRefused";
  return { kind: "deferred", reason, detail: message };
}

/** One attempt on its way to the updater. */
export class Forward {
  readonly intent: ValidIntent;
  /** Ends when the outcome is there; never rejects. */
  readonly done: Promise<void>;
  #outcome: ForwardOutcome | null = null;

  /**
   * Sends the attempt.
   *
   * @param intent The attempt
   * @param client The updater
   * @param signal Abandons the request, which cancels nothing (DESIGN 6, Drain)
   */
  constructor(intent: ValidIntent, client: UpdaterClient, signal: AbortSignal) {
    this.intent = intent;
    this.done = this.#send(client, signal);
  }

  /** What the answer means; null while there is none. */
  get outcome(): ForwardOutcome | null {
    return this.#outcome;
  }

  async #send(client: UpdaterClient, signal: AbortSignal): Promise<void> {
    try {
      const response = await client.upgrade(this.intent.document, SOCKET_UPGRADE_TIMEOUT_MS, signal);
      this.#outcome = judgeResponse(this.intent, response);
    } catch (error) {
      // The attempt may run all the same: the next poll of the updater's state tells.
      this.#outcome = { kind: "deferred", reason: reasonOf(error), detail: errorText(error) };
    }
  }
}

function reasonOf(error: unknown): DeferReason {
  const unreadable = (code: FleetError["code"]) => code === "E_DECODE";
  return isFleetError(error) && unreadable(error.code) ? "UpdaterRefused" : "UpdaterUnavailable";
}
