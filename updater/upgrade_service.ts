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
import type { AttemptOutcome, UpdaterRefusal, UpdaterResponse, UpdaterState } from "../contracts/updater_protocol.ts";
import type { FileSystem } from "../lib/durable/file_system.ts";
import type { Logger } from "../lib/log.ts";
import { installedDigest } from "./candidate.ts";
import { admit, refuse } from "./core/admission.ts";
import { updaterStateOf } from "./core/projection.ts";
import { isActive } from "./core/record.ts";
import type { Interpreter } from "./interpreter.ts";

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
}

/** Answers the requests of the updater's socket. */
export class UpgradeService {
  readonly #options: UpgradeServiceOptions;
  /** The attempt that is being admitted: until its record is durable, every other request waits. */
  #admission: Promise<UpdaterRefusal | undefined> | null = null;

  constructor(options: UpgradeServiceOptions) {
    this.#options = options;
  }

  /** The updater's state now. */
  state(): UpdaterState {
    const { interpreter, updaterVersion, schemes, journalUnit } = this.#options;
    return updaterStateOf(interpreter.record, {
      updaterVersion,
      capabilities: schemes,
      ...(journalUnit === undefined ? {} : { journalUnit }),
      admitting: this.#admission !== null,
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
    const { interpreter, journal, deviceId, arch, schemes } = this.#options;
    const digest = canonicalDigest(document);
    while (this.#admission !== null) await this.#admission.catch(() => {});
    const decision = admit(interpreter.record, attempt, digest, {
      deviceId,
      arch,
      schemes,
      reserveComplete: journal.reserveComplete,
      stopping: interpreter.stopping,
    });
    if (decision.kind === "refuse") return { ok: false, error: decision.refusal };
    if (decision.kind === "answer") return { ok: true, state: this.state(), outcome: decision.outcome };
    if (decision.kind === "admit") {
      this.#admission = this.#begin(attempt, digest, signal).finally(() => this.#admission = null);
      const refusal = await this.#admission;
      if (refusal !== undefined) return { ok: false, error: refusal };
    }
    await interpreter.idle(signal);
    return this.#answer(attempt.attemptId);
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
