/**
 * What stands between the socket and the interpreter: gathers what admission looks at, and answers a request with the
 * outcome of its attempt.
 *
 * @module
 */
import type { AgentUpgradeAttempt } from "../contracts/agent_upgrade.ts";
import { canonicalDigest } from "../contracts/digest.ts";
import { errorText, FleetError } from "../contracts/errors.ts";
import { bounded } from "../contracts/formats.ts";
import { binaryPath, type ManagedPaths, versionOfBinary } from "../contracts/managed_paths.ts";
import type { SystemUpgradeAttempt } from "../contracts/system_upgrade.ts";
import type { AttemptOutcome, UpdaterRefusal, UpdaterResponse, UpdaterState } from "../contracts/updater_protocol.ts";
import type { FileSystem } from "../lib/durable/file_system.ts";
import type { Logger } from "../lib/log.ts";
import { AdmissionLock } from "./admission_lock.ts";
import { installedDigest } from "./candidate.ts";
import { admit, refuse } from "./core/admission.ts";
import { updaterStateOf } from "./core/projection.ts";
import { isActive } from "./core/record.ts";
import type { Interpreter } from "./interpreter.ts";
import type { SystemUpgrades } from "./system_upgrade/system_upgrade_service.ts";

/** What the service works with. */
export interface UpgradeServiceOptions {
  readonly interpreter: Interpreter;
  readonly journal: { readonly reserveComplete: boolean; refillReserve(): Promise<boolean> };
  readonly fs: FileSystem;
  readonly paths: ManagedPaths;
  readonly log: Logger;
  readonly deviceId: string;
  readonly arch: string;
  readonly schemes: readonly string[];
  readonly updaterVersion: string;
  /** The agent's unit in journald, where it has one. */
  readonly journalUnit?: string;
  readonly bootId?: string;
  /** Held by whoever admits an attempt of either kind. Default one of its own */
  readonly lock?: AdmissionLock;
  /** The part that upgrades the system, where there is one. */
  readonly systemUpgrades?: SystemUpgrades;
}

/** Answers the requests of the updater's socket. */
export class UpgradeService {
  readonly #options: UpgradeServiceOptions;
  /** Until the record of an attempt that is being admitted is durable, every other request waits. */
  readonly #lock: AdmissionLock;

  constructor(options: UpgradeServiceOptions) {
    this.#options = options;
    this.#lock = options.lock ?? new AdmissionLock();
  }

  /** The updater's state now. */
  state(): UpdaterState {
    const { interpreter, updaterVersion, schemes, systemUpgrades, journalUnit } = this.#options;
    const { status, ledgerProblem } = systemUpgrades ?? {};
    return updaterStateOf(interpreter.record, {
      updaterVersion,
      capabilities: [...schemes, ...systemUpgrades?.capabilities ?? []],
      ...(journalUnit === undefined ? {} : { journalUnit }),
      admitting: this.#lock.admitting !== null,
      systemUpgradeActive: systemUpgrades?.active ?? false,
      ...(status === undefined ? {} : { systemUpgrade: status }),
      ...(ledgerProblem === undefined ? {} : { ledgerProblem }),
    });
  }

  /**
   * Runs an attempt, at most once whatever is repeated, and answers when it has ended.
   *
   * @param attempt The decoded attempt
   * @param document The attempt as it came: the digest is taken over all of it
   * @param signal Ends the wait, never the transaction
   */
  async upgrade(attempt: AgentUpgradeAttempt, document: unknown, signal: AbortSignal): Promise<UpdaterResponse> {
    const { interpreter, journal, deviceId, arch, schemes, systemUpgrades } = this.#options;
    const digest = canonicalDigest(document);
    while (this.#lock.admitting !== null) await this.#lock.admitting;
    const decision = admit(interpreter.record, attempt, digest, {
      deviceId,
      arch,
      schemes,
      reserveComplete: journal.reserveComplete,
      systemUpgradeActive: systemUpgrades?.active ?? false,
      stopping: interpreter.stopping,
    });
    if (decision.kind === "refuse") return { ok: false, error: decision.refusal };
    if (decision.kind === "answer") return { ok: true, state: this.state(), outcome: decision.outcome };
    if (decision.kind === "admit") {
      const refusal = await this.#lock.hold(() => this.#begin(attempt, digest, signal));
      if (refusal !== undefined) return { ok: false, error: refusal };
    }
    await interpreter.idle(signal);
    return this.#answer(attempt.attemptId);
  }

  /**
   * Takes an attempt of a system upgrade and answers as soon as it is durable, with how it stands.
   *
   * @param attempt The decoded attempt
   * @param document The attempt as it came
   */
  async systemUpgrade(attempt: SystemUpgradeAttempt, document: unknown): Promise<UpdaterResponse> {
    const { systemUpgrades } = this.#options;
    if (systemUpgrades === undefined) {
      return { ok: false, error: refuse("E_UNSUPPORTED_OPERATION", "this updater has no system upgrades") };
    }
    const answer = await systemUpgrades.request(attempt, document);
    return answer.ok
      ? { ok: true, state: this.state(), systemUpgrade: answer.status }
      : { ok: false, error: answer.refusal };
  }

  async #begin(attempt: AgentUpgradeAttempt, digest: string, signal: AbortSignal): Promise<UpdaterRefusal | undefined> {
    const { interpreter, log, bootId } = this.#options;
    try {
      const selection = await this.#gather(attempt, signal);
      if ("code" in selection) return selection;
      await interpreter.take({
        kind: "AttemptAccepted",
        attempt,
        digest,
        ...selection,
        ...(bootId === undefined ? {} : { bootId }),
      });
      return undefined;
    } catch (error) {
      if (error instanceof FleetError && error.retry === "fatal") throw error;
      log.error("attempt not begun", { attemptId: attempt.attemptId, error: errorText(error) });
      return refuse("E_INTERNAL", bounded(`the attempt was not begun: ${errorText(error)}`), "environment");
    }
  }

  async #gather(
    attempt: AgentUpgradeAttempt,
    signal: AbortSignal,
  ): Promise<{ previousPath: string; targetPath: string; alreadySelected: boolean } | UpdaterRefusal> {
    const { fs, paths } = this.#options;
    const previousPath = await fs.readLink(paths.agentLink);
    const targetPath = binaryPath(paths, attempt.targetVersion);
    if (previousPath === null) {
      return refuse("E_INTERNAL", `${paths.agentLink} selects no binary: run device setup again`, "internal");
    }
    versionOfBinary(paths, previousPath);
    if (previousPath !== targetPath) return { previousPath, targetPath, alreadySelected: false };
    const installed = await installedDigest(fs, targetPath, signal);
    if (installed?.sha256 === attempt.artifact.sha256) return { previousPath, targetPath, alreadySelected: true };
    return refuse(
      "E_VERSION_SELECTED",
      `version ${attempt.targetVersion} is selected with other bytes: a binary in use is never replaced`,
      "policy",
      "targetVersion",
    );
  }

  #answer(attemptId: string): UpdaterResponse {
    const { interpreter } = this.#options;
    const outcome: AttemptOutcome | undefined = interpreter.record.history.find((one) => one.attemptId === attemptId);
    if (outcome !== undefined && !isActive(interpreter.record)) return { ok: true, state: this.state(), outcome };
    return {
      ok: false,
      error: refuse("E_STOPPING", `attempt ${attemptId} goes on; ask for the status`, "environment"),
    };
  }
}
