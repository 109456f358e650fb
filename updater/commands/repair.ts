/**
 * `fleet-updater repair`: root's way out of `rollback-failed` and of a corrupt journal (DESIGN 5, Repair). Without
 * `--select` it only shows; the runbook is in `docs/operations.md`.
 *
 * @module
 */
import { FleetError, isFleetError } from "../../contracts/errors.ts";
import type { Architecture } from "../../contracts/formats.ts";
import { REPAIR_LOOK_AGAIN_MS, REPAIR_TIMEOUT_MS, REPAIR_UPDATER_WAIT_MS } from "../../contracts/limits.ts";
import type { ManagedPaths } from "../../contracts/managed_paths.ts";
import { type Clock, withDeadline } from "../../lib/deadline.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import { acquireLock } from "../../lib/durable/process_lock.ts";
import { EXIT_CODES } from "../../lib/program.ts";
import { installedBinaries } from "../repair/installed_binaries.ts";
import type { RepairReport } from "../repair/repair_protocol.ts";
import { inspectJournal, replaceCorruptJournal } from "../repair/replace_corrupt_journal.ts";
import { askRepair } from "./ask.ts";
import { renderReport } from "./render_state.ts";
import { EXIT_QUARANTINED, type OutputFormat } from "./status.ts";

/** What a repair works with. */
export interface RepairCommand {
  readonly paths: ManagedPaths;
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly deviceId: string;
  readonly arch: Architecture;
  /** The version that root chose; absent: only show. `previous` stands for the one that the journal names. */
  readonly select?: string;
  readonly output: OutputFormat;
  /** Takes the result. */
  readonly print: (text: string) => void;
  /** Takes what happens meanwhile. */
  readonly progress: (text: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Shows what there is to repair, or repairs it.
 *
 * @param command Where, and what root chose
 * @returns the exit code
 */
export async function repairCommand(command: RepairCommand): Promise<number> {
  const report = await liveReport(command);
  if (report !== null) return await repairLive(command, report);
  return await repairJournal(command);
}

/** The live updater's report, or null when none answers. */
async function liveReport({ paths, signal }: RepairCommand): Promise<RepairReport | null> {
  try {
    return await askRepair(paths.repairSocket, { request: "show" }, REPAIR_TIMEOUT_MS, signal);
  } catch (error) {
    if (isFleetError(error, "E_SOCKET_UNREACHABLE")) return null;
    throw error;
  }
}

async function repairLive(command: RepairCommand, before: RepairReport): Promise<number> {
  const { select, paths, progress, signal } = command;
  if (select === undefined) {
    show(command, before);
    if (!before.state.quarantined) return before.state.ledgerProblem === undefined ? EXIT_CODES.ok : EXIT_QUARANTINED;
    progress("To repair: fleet-updater repair --select previous (or --select VERSION of an installed binary)");
    return EXIT_QUARANTINED;
  }
  const version = select === "previous" ? previousVersion(before) : select;
  progress(`Selecting version ${version} and starting it; this takes until it is ready`);
  const after = await askRepair(paths.repairSocket, { request: "select", version }, REPAIR_TIMEOUT_MS, signal);
  show(command, after);
  progress(`Repaired: version ${version} is ready, and new attempts are accepted again`);
  return EXIT_CODES.ok;
}

function previousVersion({ state, binaries }: RepairReport): string {
  const path = state.transaction?.previousPath;
  const found = binaries.find((binary) => binary.path === path);
  if (found !== undefined) return found.version;
  throw new FleetError(
    `Cannot select the previous binary: ${
      path ?? "the journal names none, and it"
    } is not installed; choose another with --select VERSION`,
    { code: "E_REPAIR_NO_BINARY" },
  );
}

/** No updater answers: either it only has to be started, or its journal keeps it from starting. */
async function repairJournal(command: RepairCommand): Promise<number> {
  const { paths, fs, select, progress } = command;
  const lock = await acquireLock(paths.updaterLock);
  if (lock === null) {
    throw new FleetError("Cannot repair: an updater runs but does not answer on its repair socket; restart it first", {
      code: "E_REPAIR_BUSY",
      failureClass: "environment",
    });
  }
  try {
    const journal = await inspectJournal(fs, paths);
    if (journal.kind === "sound") {
      throw new FleetError(
        "Cannot repair: the updater does not run, and its journal is sound; start the updater first",
        {
          code: "E_REPAIR_NOT_RUNNING",
          failureClass: "environment",
        },
      );
    }
    progress(journal.problem);
    if (select === undefined || select === "previous") {
      await showBinaries(command);
      progress("To repair: fleet-updater repair --select VERSION of an installed binary that is known to run");
      return EXIT_QUARANTINED;
    }
    const archive = await replaceCorruptJournal(fs, paths, {
      deviceId: command.deviceId,
      arch: command.arch,
      version: select,
      nowMs: command.clock.nowMs(),
      attemptId: crypto.randomUUID(),
    });
    progress(`The corrupt journal is kept as ${archive}`);
  } finally {
    lock.release();
  }
  progress("Start the updater now (systemctl start fleet-updater, or as this fleet starts it); waiting for it");
  return await repairLive(command, await startedReport(command));
}

async function startedReport(command: RepairCommand): Promise<RepairReport> {
  const { clock, signal } = command;
  return await withDeadline(REPAIR_UPDATER_WAIT_MS, "reach the updater after its start", async (waiting) => {
    for (;;) {
      const report = await liveReport(command);
      if (report !== null) return report;
      await clock.sleep(REPAIR_LOOK_AGAIN_MS, waiting);
    }
  }, { signal, clock });
}

async function showBinaries({ fs, paths, print, output }: RepairCommand): Promise<void> {
  const selectedPath = await fs.readLink(paths.agentLink);
  const found = { selectedPath, ...await installedBinaries(fs, paths) };
  if (output === "json") return print(JSON.stringify(found));
  print([
    `selected   ${selectedPath ?? "nothing: the link is not there"}`,
    "installed",
    ...found.binaries.map(({ version, path }) => `  ${version.padEnd(20)} ${path}`),
  ].join("\n"));
}

function show({ output, print }: RepairCommand, report: RepairReport): void {
  print(output === "json" ? JSON.stringify(report) : renderReport(report));
}
