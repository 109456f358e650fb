/**
 * Writes the updater's transaction into NATS as the rules of the mirror say (DESIGN 6, Mirror).
 *
 * @module
 */
import type { AgentUpgradeStatus } from "../../contracts/agent_upgrade.ts";
import type { UpdaterState } from "../../contracts/updater_protocol.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import type { Blockers } from "../blockers.ts";
import type { AttemptIdentity } from "../core/attempt_identity.ts";
import type { LastDrain } from "../core/last_drain.ts";
import { decideMirror } from "../core/mirror.ts";
import type { OwnDocument } from "../own_document.ts";

/** What the mirror works with. */
export interface StatusMirrorOptions {
  readonly deviceId: string;
  readonly status: OwnDocument<AgentUpgradeStatus>;
  readonly lastDrain: LastDrain | null;
  readonly blockers: Blockers;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What the mirror must not overwrite. */
export interface NewerAttempts {
  /** What the intent key names, or null. */
  readonly intent: AttemptIdentity | null;
  /** What is on its way to the updater, or null. */
  readonly forwarding: AttemptIdentity | null;
}

/** Writes the updater's transaction into NATS. */
export class StatusMirror {
  readonly #options: StatusMirrorOptions;

  constructor(options: StatusMirrorOptions) {
    this.#options = options;
  }

  /**
   * Writes the transaction if it differs from what stands there and nothing newer does.
   *
   * @returns false when the status changed under the write; try again
   * @throws {FleetError} `E_BUS_*`
   */
  async write({ transaction }: UpdaterState, newer: NewerAttempts): Promise<boolean> {
    const { blockers, clock, deviceId, lastDrain, log, status } = this.#options;
    const published = await status.read();
    const nowMs = clock.nowMs();
    const decision = decideMirror({ deviceId, transaction, published, lastDrain, nowMs, ...newer });
    blockers.set("journal", decision.kind === "foreign" ? decision.error : null);
    if (decision.kind === "foreign") {
      log.state("mirror", "the updater's transaction is of another device", { error: decision.error }, "error");
    }
    if (decision.kind !== "write") return true;
    const written = await status.write(decision.status);
    if (written) {
      const { attemptId, phase, reason } = decision.status;
      log.state("mirror", "upgrade status published", { attemptId, phase, reason });
    }
    return written;
  }
}
