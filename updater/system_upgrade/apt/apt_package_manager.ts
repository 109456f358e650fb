/**
 * The adapter of {@link PackageManager} for apt, dpkg and systemd.
 *
 * @module
 */
import {
  APT_DOWNLOAD_TIMEOUT_MS,
  APT_FETCH_RETRY_MS,
  APT_FETCH_TRIES_MAX,
  APT_LOCK_TIMEOUT_MS,
  APT_LOOK_TIMEOUT_MS,
  APT_REFRESH_TIMEOUT_MS,
  APT_SIMULATE_TIMEOUT_MS,
  APT_UPGRADE_TIMEOUT_MS,
  POST_MORTEM_LINES_MAX,
} from "../../../contracts/limits.ts";
import { errorText, isFleetError } from "../../../contracts/errors.ts";
import type { ManagedPaths } from "../../../contracts/managed_paths.ts";
import type { Clock } from "../../../lib/deadline.ts";
import type { FileSystem } from "../../../lib/durable/file_system.ts";
import { makeDirectoryDurably } from "../../../lib/durable/make_directory.ts";
import { loweredBound } from "../../../lib/lowered_bound.ts";
import type { Logger } from "../../../lib/log.ts";
import type { SystemTool } from "../../systemd/system_tool.ts";
import type { UpgradeFinding } from "../core/ledger.ts";
import { configureUnit, upgradeUnit } from "../core/upgrade_status.ts";
import { isCleanAudit, parseAudit } from "../parse_audit.ts";
import { parseDownloadBytes, parseSimulation } from "../parse_simulation.ts";
import type { PackageChange, PackageManager, PackageState, SimulatedUpgrade, StepResult } from "../ports.ts";
import {
  auditCommand,
  cleanCommand,
  type CommandWords,
  configureCommand,
  downloadCommand,
  listArchivesCommand,
  refreshCommand,
  simulateCommand,
  upgradeCommand,
  writableCommand,
} from "./apt_commands.ts";
import { type ChangeEnd, runChange } from "./change_unit.ts";
import { findingOf } from "./command_report.ts";
import { type AptStep, isWorthRepeating } from "./judge_failure.ts";
import type { UnitCommand, UnitCommandRun } from "./unit_command.ts";

/** Bounds of apt, in ms; each can be lowered below its limit only. */
export interface AptBounds {
  readonly aptRefreshTimeoutMs?: number;
  readonly aptFetchRetryMs?: number;
  readonly aptDownloadTimeoutMs?: number;
  readonly aptUpgradeTimeoutMs?: number;
  readonly aptLockTimeoutMs?: number;
}

/** What the adapter is made of. */
export interface AptPackageManagerOptions {
  readonly fs: FileSystem;
  readonly paths: Pick<ManagedPaths, "systemUpgradeDirectory">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tool: SystemTool;
  readonly command: UnitCommand;
  readonly bounds?: AptBounds;
}

const STATE_MODE = 0o700;

function done<T>(value: T): StepResult<T> {
  return { ok: true, value };
}

function lost(finding: UpgradeFinding): StepResult<never> {
  return { ok: false, finding };
}

class AptPackageManager implements PackageManager {
  readonly #options: AptPackageManagerOptions;
  readonly #lockTimeoutMs: number;

  constructor(options: AptPackageManagerOptions) {
    this.#options = options;
    this.#lockTimeoutMs = loweredBound(APT_LOCK_TIMEOUT_MS, options.bounds?.aptLockTimeoutMs);
  }

  async look(signal: AbortSignal): Promise<StepResult<PackageState>> {
    const { command } = this.#options;
    const writable = await command(writableCommand(), APT_LOOK_TIMEOUT_MS, signal);
    if (!writable.succeeded) return this.#failed("look", writable);
    const readOnly = writable.stdout.split("\n").filter((line) => line.startsWith("/"));
    const audit = await command(auditCommand(), APT_LOOK_TIMEOUT_MS, signal);
    // It ends with 1 when it found something, and with 2 when its database cannot be read.
    if (!audit.succeeded && (audit.exitCode !== 1 || isCleanAudit(audit.stdout))) return this.#failed("look", audit);
    if (isCleanAudit(audit.stdout)) return done({ readOnly, unfinished: [] });
    const unfinished = parseAudit(audit.stdout);
    return done({ readOnly, unfinished: unfinished.length > 0 ? unfinished : ["dpkg"] });
  }

  refresh(signal: AbortSignal): Promise<StepResult> {
    const timeoutMs = loweredBound(APT_REFRESH_TIMEOUT_MS, this.#options.bounds?.aptRefreshTimeoutMs);
    return this.#fetch("refresh", refreshCommand(), timeoutMs, signal);
  }

  async simulate(signal: AbortSignal): Promise<StepResult<SimulatedUpgrade>> {
    const { command } = this.#options;
    const run = await command(simulateCommand(), APT_SIMULATE_TIMEOUT_MS, signal);
    if (!run.succeeded) return this.#failed("simulate", run);
    const plan = parseSimulation(run.stdout);
    if (plan === null) return this.#failed("simulate", run);
    const archives = await command(listArchivesCommand(), APT_SIMULATE_TIMEOUT_MS, signal);
    if (!archives.succeeded) return this.#failed("simulate", archives);
    return done({ plan, downloadBytes: parseDownloadBytes(archives.stdout) });
  }

  download(signal: AbortSignal): Promise<StepResult> {
    const timeoutMs = loweredBound(APT_DOWNLOAD_TIMEOUT_MS, this.#options.bounds?.aptDownloadTimeoutMs);
    return this.#fetch("download", downloadCommand(this.#lockTimeoutS), timeoutMs + this.#lockTimeoutMs, signal);
  }

  configure(attemptId: string, signal: AbortSignal): Promise<StepResult> {
    const unit = configureUnit(attemptId);
    return this.#change("configure", attemptId, unit, configureCommand(this.#lockTimeoutS), signal);
  }

  upgrade({ attemptId, mayRemove }: PackageChange, signal: AbortSignal): Promise<StepResult> {
    const unit = upgradeUnit(attemptId);
    return this.#change("upgrade", attemptId, unit, upgradeCommand(this.#lockTimeoutS, mayRemove), signal);
  }

  async tidy(signal: AbortSignal): Promise<void> {
    const { command, fs, log, paths } = this.#options;
    try {
      const run = await command(cleanCommand(), APT_LOOK_TIMEOUT_MS, signal);
      if (!run.succeeded) log.warn("fetched archives not removed", { lines: run.lines.slice(-1) });
      for (const name of await fs.list(paths.systemUpgradeDirectory)) {
        await fs.remove(`${paths.systemUpgradeDirectory}/${name}`);
      }
    } catch (error) {
      if (!isFleetError(error)) throw error;
      log.warn("results of earlier upgrades not removed", { error: errorText(error) });
    }
  }

  /** Fetches, again where that may help: what has come is kept by apt. */
  async #fetch(
    step: "refresh" | "download",
    words: CommandWords,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<StepResult> {
    const { bounds, clock, command, log } = this.#options;
    const pauseMs = loweredBound(APT_FETCH_RETRY_MS, bounds?.aptFetchRetryMs);
    const lockEndMs = clock.monotonicMs() + this.#lockTimeoutMs;
    for (let tries = 1;;) {
      const run = await command(words, timeoutMs, signal);
      if (run.succeeded) return done(undefined);
      const finding = this.#finding(step, run);
      // apt does not wait for the lock of the index, whatever it is told.
      const locked = step === "refresh" && finding.reason === "LockTimeout";
      if (locked && clock.monotonicMs() >= lockEndMs) return lost(finding);
      if (!locked && (!isWorthRepeating(finding.reason) || tries++ >= APT_FETCH_TRIES_MAX)) return lost(finding);
      log.state(`apt-${step}`, "packages cannot be fetched yet", { step, error: finding.error }, "warn");
      await clock.sleep(pauseMs, signal);
    }
  }

  get #lockTimeoutS(): number {
    return Math.ceil(this.#lockTimeoutMs / 1_000);
  }

  async #change(
    step: AptStep,
    attemptId: string,
    unit: string,
    words: CommandWords,
    signal: AbortSignal,
  ): Promise<StepResult> {
    const { bounds, clock, fs, paths, tool } = this.#options;
    await makeDirectoryDurably(fs, paths.systemUpgradeDirectory, STATE_MODE);
    await this.#forgetOthers(attemptId);
    const timeoutMs = loweredBound(APT_UPGRADE_TIMEOUT_MS, bounds?.aptUpgradeTimeoutMs);
    const statePath = `${paths.systemUpgradeDirectory}/${unit.replace(/\.service$/, "")}`;
    const change = { unit, statePath, words, timeoutMs: timeoutMs + this.#lockTimeoutMs };
    const end = await runChange({ fs, clock, tool }, change, signal);
    return end.succeeded ? done(undefined) : this.#failed(step, end);
  }

  /** Results of attempts that ended without being tidied up after. */
  async #forgetOthers(attemptId: string): Promise<void> {
    const { fs, paths: { systemUpgradeDirectory } } = this.#options;
    for (const name of await fs.list(systemUpgradeDirectory)) {
      if (!name.includes(attemptId)) await fs.remove(`${systemUpgradeDirectory}/${name}`);
    }
  }

  #failed(step: AptStep, end: ChangeEnd | UnitCommandRun): StepResult<never> {
    return lost(this.#finding(step, end));
  }

  #finding(step: AptStep, end: ChangeEnd | UnitCommandRun): UpgradeFinding {
    const { command, exitCode, signal, timedOut, durationMs, lines } = end;
    return findingOf(step, {
      command,
      lines,
      ...("lost" in end && end.lost === true ? { lost: true } : {}),
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(signal === undefined ? {} : { signal }),
      ...(timedOut === undefined ? {} : { timedOut }),
      ...(durationMs === undefined ? {} : { durationMs }),
    }, POST_MORTEM_LINES_MAX);
  }
}

/**
 * The adapter for apt.
 *
 * @param options Files, clock, systemd's programs, bounds
 */
export function aptPackageManager(options: AptPackageManagerOptions): PackageManager {
  return new AptPackageManager(options);
}
