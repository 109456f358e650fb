/**
 * What stands between the socket and the runner of system upgrades: gathers what admission looks at, and answers as soon
 * as the attempt is durable, since it ends with a reboot.
 *
 * @module
 */
import { canonicalDigest } from "../../contracts/digest.ts";
import { errorText, isFleetError } from "../../contracts/errors.ts";
import { bounded } from "../../contracts/formats.ts";
import {
  APT_FULL_UPGRADE_V1,
  type SystemUpgradeAttempt,
  type SystemUpgradeStatus,
} from "../../contracts/system_upgrade.ts";
import type { UpdaterRefusal } from "../../contracts/updater_protocol.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import type { AdmissionLock } from "../admission_lock.ts";
import { refuse } from "../core/admission.ts";
import { admitUpgrade } from "./core/admit_upgrade.ts";
import type { BootFacts } from "./core/recover_run.ts";
import { statusOfRun } from "./core/upgrade_status.ts";
import type { UpgradeRunner } from "./upgrade_runner.ts";

/** What became of a request: how the attempt stands, or why it does not begin. */
export type SystemUpgradeAnswer =
  | { readonly ok: true; readonly status: SystemUpgradeStatus }
  | { readonly ok: false; readonly refusal: UpdaterRefusal };

/** The part of the updater that upgrades the system, as the rest of it sees it. */
export interface SystemUpgrades {
  /** Capabilities that the updater tells because of it. */
  readonly capabilities: readonly string[];
  /** Whether one is under way. */
  readonly active: boolean;
  /** The one that runs, or else the last one. */
  readonly status?: SystemUpgradeStatus | undefined;
  /** Why there is none until root repairs the device. */
  readonly ledgerProblem?: string | undefined;
  /**
   * Takes an attempt, at most once whatever is repeated.
   *
   * @param attempt The decoded attempt
   * @param document The attempt as it came: the digest is taken over all of it
   */
  request(attempt: SystemUpgradeAttempt, document: unknown): Promise<SystemUpgradeAnswer>;
}

/** What the agent's side of the updater tells. */
export interface AgentSide {
  /** Whether an agent upgrade is under way. */
  readonly active: boolean;
  /** Whether the device waits for root's repair. */
  readonly quarantined: boolean;
}

/** What the service works with. */
export interface SystemUpgradeServiceOptions {
  readonly runner: UpgradeRunner;
  readonly ledger: { readonly reserveComplete: boolean };
  readonly lock: AdmissionLock;
  readonly agentSide: () => AgentSide;
  readonly deviceId: string;
  readonly boot: BootFacts;
  readonly clock: Pick<Clock, "nowMs">;
  readonly log: Logger;
  readonly stopping: () => boolean;
}

/** Answers requests for system upgrades where there is an apt. */
export class SystemUpgradeService implements SystemUpgrades {
  readonly capabilities = [APT_FULL_UPGRADE_V1];
  readonly #options: SystemUpgradeServiceOptions;

  constructor(options: SystemUpgradeServiceOptions) {
    this.#options = options;
  }

  get active(): boolean {
    return this.#options.runner.active;
  }

  get status(): SystemUpgradeStatus | undefined {
    const { run } = this.#options.runner.ledger;
    return run === null ? undefined : statusOfRun(run);
  }

  async request(attempt: SystemUpgradeAttempt, document: unknown): Promise<SystemUpgradeAnswer> {
    const { agentSide, clock, deviceId, ledger, lock, runner, stopping } = this.#options;
    const digest = canonicalDigest(document);
    while (lock.admitting !== null) await lock.admitting;
    const { active, quarantined } = agentSide();
    const decision = admitUpgrade(runner.ledger, attempt, digest, {
      deviceId,
      incapable: undefined,
      nowMs: clock.nowMs(),
      agentUpgradeActive: active,
      quarantined,
      reserveComplete: ledger.reserveComplete,
      stopping: stopping(),
    });
    if (decision.kind === "refuse") return { ok: false, refusal: decision.refusal };
    if (decision.kind === "answer") return { ok: true, status: decision.status };
    return await lock.hold(() => this.#begin(attempt, digest));
  }

  async #begin(attempt: SystemUpgradeAttempt, digest: string): Promise<SystemUpgradeAnswer> {
    const { boot, log, runner } = this.#options;
    try {
      await runner.accept({ kind: "AttemptAccepted", attempt, digest, ...boot });
    } catch (error) {
      if (isFleetError(error) && error.retry === "fatal") throw error;
      log.error("system upgrade not begun", { attemptId: attempt.attemptId, error: errorText(error) });
      const message = bounded(`the attempt was not begun: ${errorText(error)}`);
      return { ok: false, refusal: refuse("E_INTERNAL", message, "environment") };
    }
    const { run } = runner.ledger;
    if (run?.attempt.attemptId === attempt.attemptId) return { ok: true, status: statusOfRun(run) };
    return { ok: false, refusal: refuse("E_INTERNAL", "the attempt was not begun", "internal") };
  }
}

/**
 * The part of an updater whose device cannot upgrade its system: it has no apt or no systemd, or a ledger that cannot be
 * trusted. The capability is not told.
 *
 * @param refusal What every request gets
 * @param ledgerProblem What root has to repair, if that is why
 */
export function noSystemUpgrades(refusal: UpdaterRefusal, ledgerProblem?: string): SystemUpgrades {
  return { capabilities: [], active: false, ledgerProblem, request: () => Promise.resolve({ ok: false, refusal }) };
}
