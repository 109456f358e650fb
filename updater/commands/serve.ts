/**
 * `fleet-updater serve`: the service. Order of its start: lock, journal, recovery of the link, sockets, READY; then the
 * rest of the recovery, while the agent can already ask for its transaction (`Fleet agent upgrades`, Recovery).
 *
 * @module
 */
import { BUILD_VERSION } from "../../contracts/build_info.ts";
import { errorText, FleetError, isFleetError } from "../../contracts/errors.ts";
import { RESERVE_REFILL_INTERVAL_MS, UPDATER_SHUTDOWN_MS } from "../../contracts/limits.ts";
import type { ManagedPaths } from "../../contracts/managed_paths.ts";
import { systemClock, withDeadline } from "../../lib/deadline.ts";
import { osFileSystem } from "../../lib/durable/os_file_system.ts";
import { acquireLock } from "../../lib/durable/process_lock.ts";
import { artifactFetcher } from "../../lib/fetch/artifact_fetcher.ts";
import type { Logger } from "../../lib/log.ts";
import { EXIT_CODES } from "../../lib/program.ts";
import { kernelBootId } from "../../lib/systemd/boot_id.ts";
import { notifierFromEnvironment } from "../../lib/systemd/notify.ts";
import { groupId, userIds } from "../accounts.ts";
import { AdmissionLock } from "../admission_lock.ts";
import type { UpdaterConfig } from "../config.ts";
import { isActive, type UpdaterRecord } from "../core/record.ts";
import { Interpreter } from "../interpreter.ts";
import { JournalStore } from "../journal_store.ts";
import { selfTestProber } from "../probe/self_test_prober.ts";
import type { AgentUser } from "../process/agent_command.ts";
import { currentBootId } from "../process/process_table.ts";
import { RepairService } from "../repair/repair_service.ts";
import { serveRepairSocket } from "../repair/repair_socket.ts";
import type { ManagedService } from "../ports.ts";
import { openProcessService } from "../services/process_service.ts";
import { serveUpdaterSocket } from "../socket/server.ts";
import { aptContext, type OpenedSystemUpgrades, openSystemUpgrades } from "../system_upgrade/open_system_upgrades.ts";
import { systemdService } from "../systemd/systemd_service.ts";
import { transientRunner } from "../systemd/transient_runner.ts";
import { UpgradeService } from "../upgrade_service.ts";

/** What the service is started with. */
export interface ServeCommand {
  readonly paths: ManagedPaths;
  readonly config: UpdaterConfig;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const UMASK = 0o022;
const STATE_DIRECTORY_MODE = 0o700;
const RUN_DIRECTORY_MODE = 0o755;
/** Owner and group: whoever may connect may forward intents (seed, Trust boundary). */
const SOCKET_MODE = 0o660;

/**
 * Serves until the signal aborts or the state of the disk is unknown.
 *
 * @param command Paths, configuration, log, signal
 * @returns the exit code
 * @throws {FleetError} `E_UPDATER_RUNNING`, or what keeps the service from starting
 */
export async function serveCommand(command: ServeCommand): Promise<number> {
  const { paths, log } = command;
  // Modes are given at creation; a stricter mask of the caller must not take bits from the binaries.
  Deno.umask(UMASK);
  await osFileSystem.makeDirectory(paths.stateDirectory, STATE_DIRECTORY_MODE);
  await osFileSystem.makeDirectory(paths.runDirectory, RUN_DIRECTORY_MODE);
  const lock = await acquireLock(paths.updaterLock);
  if (lock === null) {
    throw new FleetError(`Cannot start: another updater holds ${paths.updaterLock}`, {
      code: "E_UPDATER_RUNNING",
      failureClass: "environment",
    });
  }
  try {
    const opened = await openJournal(paths, log);
    return opened === null ? EXIT_CODES.configuration : await serve(command, opened.store, opened.record);
  } finally {
    lock.release();
  }
}

/** A corrupt journal keeps the sockets closed: its state is not inferred from anything else. */
async function openJournal(
  paths: ManagedPaths,
  log: Logger,
): Promise<{ readonly store: JournalStore; readonly record: UpdaterRecord } | null> {
  try {
    return await JournalStore.open(osFileSystem, paths);
  } catch (error) {
    if (!isFleetError(error, "E_JOURNAL_CORRUPT")) throw error;
    const next = "run `fleet-updater repair` as root; see docs/operations.md, JournalCorrupt";
    log.error("journal corrupt: the updater does not serve", { journal: paths.journal, error: errorText(error), next });
    return null;
  }
}

interface Accounts {
  readonly user?: AgentUser;
  readonly socketGid?: number;
}

async function accountsOf({ agentUser, socketGroup }: UpdaterConfig): Promise<Accounts> {
  const user = agentUser === undefined
    ? undefined
    : { ...userIds(await Deno.readTextFile("/etc/passwd"), agentUser), name: agentUser };
  const socketGid = socketGroup === undefined ? undefined : groupId(await Deno.readTextFile("/etc/group"), socketGroup);
  return { ...(user === undefined ? {} : { user }), ...(socketGid === undefined ? {} : { socketGid }) };
}

async function serve(command: ServeCommand, store: JournalStore, record: UpdaterRecord): Promise<number> {
  const { paths, config, log, signal } = command;
  const { user, socketGid } = await accountsOf(config);
  const { bounds = {} } = config;
  const surroundings = user === undefined ? {} : { user };
  const underSystemd = config.services.kind === "systemd";
  const services = underSystemd
    ? systemdService({ log, bounds })
    : await openProcessService({ paths, fs: osFileSystem, log, bounds, ...surroundings });
  const fetcher = artifactFetcher({
    arch: Deno.build.arch,
    bounds,
    ...(config.tls?.caFile === undefined ? {} : { caFile: config.tls.caFile }),
    ...config.oci,
  });
  const prober = selfTestProber({
    configPath: paths.agentConfig,
    ...surroundings,
    ...(underSystemd ? { runner: transientRunner() } : {}),
    ...(bounds.probeTimeoutMs === undefined ? {} : { timeoutMs: bounds.probeTimeoutMs }),
  });
  const failed = Promise.withResolvers<unknown>();
  const context = {
    fs: osFileSystem,
    paths,
    fetcher,
    prober,
    services,
    clock: systemClock,
    log,
    ...(bounds.rollbackRetryMinMs === undefined ? {} : { retryMinMs: bounds.rollbackRetryMinMs }),
    ...(bounds.rollbackRetryMaxMs === undefined ? {} : { retryMaxMs: bounds.rollbackRetryMaxMs }),
  };
  const interpreter = new Interpreter({ record, store, context, onFatal: failed.resolve });
  // Before the first attempt can come: without its reserve the journal admits none.
  if (!isActive(record)) await store.refillReserve();
  const proceed = await interpreter.recover();
  const bootId = thisBootId();
  const lock = new AdmissionLock();
  const system = await openSystemUpgrades({
    fs: osFileSystem,
    paths,
    clock: systemClock,
    log,
    deviceId: config.deviceId,
    lock,
    agentSide: () => ({
      active: isActive(interpreter.record),
      quarantined: interpreter.record.transaction?.phase === "rollback-failed",
    }),
    stopping: () => interpreter.stopping,
    onFatal: failed.resolve,
    context: await aptContext({ underSystemd, fs: osFileSystem, paths, clock: systemClock, log, bounds }),
    boot: bootId === undefined ? null : { bootId, kernel: Deno.osRelease() },
  });
  const upgrades = new UpgradeService({
    interpreter,
    journal: store,
    fs: osFileSystem,
    paths,
    log,
    deviceId: config.deviceId,
    arch: Deno.build.arch,
    schemes: fetcher.schemes,
    updaterVersion: BUILD_VERSION,
    lock,
    systemUpgrades: system.upgrades,
    ...(services.journalUnit === undefined ? {} : { journalUnit: services.journalUnit }),
    ...(bootId === undefined ? {} : { bootId }),
  });
  return await serveSockets({
    ...command,
    interpreter,
    services,
    store,
    upgrades,
    system,
    proceed,
    socketGid,
    failed: failed.promise,
    signal,
  });
}

interface Serving extends ServeCommand {
  readonly interpreter: Interpreter;
  readonly services: ManagedService;
  readonly store: JournalStore;
  readonly upgrades: UpgradeService;
  readonly system: OpenedSystemUpgrades;
  readonly proceed: () => void;
  readonly socketGid: number | undefined;
  /** Resolves when the process must end to recover from its journal. */
  readonly failed: Promise<unknown>;
}

async function serveSockets(serving: Serving): Promise<number> {
  const { paths, config, log, signal, interpreter, services, upgrades, system, proceed, socketGid, failed } = serving;
  const closing = new AbortController();
  const socket = serveUpdaterSocket({
    path: paths.updaterSocket,
    mode: SOCKET_MODE,
    log,
    signal: closing.signal,
    handlers: {
      status: () => Promise.resolve(upgrades.state()),
      upgrade: (attempt, document, ending) => upgrades.upgrade(attempt, document, ending),
      systemUpgrade: (attempt, document) => upgrades.systemUpgrade(attempt, document),
    },
    ...(socketGid === undefined ? {} : { gid: socketGid }),
    ...(config.bounds?.socketReadTimeoutMs === undefined
      ? {}
      : { bounds: { readTimeoutMs: config.bounds.socketReadTimeoutMs } }),
  });
  const state = () => upgrades.state();
  const repairs = new RepairService({ interpreter, services, fs: osFileSystem, paths, state });
  const repairSocket = serveRepairSocket(paths.repairSocket, repairs, log, closing.signal);
  const notifier = notifierFromEnvironment();
  await notifier.notify({ ready: true, status: "serving" }, signal);
  log.info("updater ready", { version: BUILD_VERSION, deviceId: config.deviceId });
  proceed();
  system.proceed();
  // A recovery brings the agent up by itself; a start beside it would only be stopped again.
  if (!isActive(interpreter.record)) services.ensureRunning();
  const refilling = refillReserve(serving, closing.signal);
  const fatal = await Promise.race([failed, untilAborted(signal)]);
  await notifier.notify({ stopping: true });
  closing.abort(signal.aborted ? signal.reason : fatal);
  await withDeadline(UPDATER_SHUTDOWN_MS, "stop the updater", async () => {
    // The agent outlives the updater; what a job ends with from here on is no verdict.
    const parts = [services.close(), interpreter.stop(), system.stop()];
    await Promise.all([...parts, socket.finished, repairSocket.finished, refilling]);
  }).catch((error) => log.warn("updater stopped late", { error: errorText(error) }));
  notifier.close();
  if (fatal === undefined) return EXIT_CODES.ok;
  throw fatal;
}

function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

/** The boot as the unit has it: in the unit's sandbox on a container the kernel may tell the host's. */
function thisBootId(): string | undefined {
  const told = Deno.env.get("FLEET_UPDATER_BOOT_ID") ?? "";
  return told === "" ? currentBootId() : kernelBootId(told);
}

/** Fills the journal's reserve, at once and whenever a transaction on a full disk has used a part of it. */
async function refillReserve({ store, interpreter, system, log }: Serving, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await system.refillReserve();
      if (!store.reserveComplete) {
        await interpreter.idle(signal);
        const complete = await store.refillReserve();
        log.state("reserve", complete ? "journal reserve complete" : "journal reserve incomplete: the disk is full");
      }
      await systemClock.sleep(RESERVE_REFILL_INTERVAL_MS, signal);
    } catch (error) {
      if (!signal.aborted) log.state("reserve", "journal reserve not filled", { error: errorText(error) }, "warn");
      if (!signal.aborted) await systemClock.sleep(RESERVE_REFILL_INTERVAL_MS, signal).catch(() => {});
    }
  }
}
