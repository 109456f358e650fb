/**
 * The part of the updater that upgrades the system, wired together where a device can: under systemd, as root, with apt.
 *
 * @module
 */
import { errorText, isFleetError } from "../../contracts/errors.ts";
import { bounded } from "../../contracts/formats.ts";
import { type ManagedPaths, managedPaths } from "../../contracts/managed_paths.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import type { Logger } from "../../lib/log.ts";
import type { AdmissionLock } from "../admission_lock.ts";
import { refuse } from "../core/admission.ts";
import { systemTool } from "../systemd/system_tool.ts";
import { type AptBounds, aptPackageManager } from "./apt/apt_package_manager.ts";
import { unitCommand } from "./apt/unit_command.ts";
import type { BootFacts } from "./core/recover_run.ts";
import type { Ledger } from "./core/ledger.ts";
import type { StepContext } from "./execute_step.ts";
import { LedgerStore } from "./ledger_store.ts";
import { linuxHost, type RebootBounds } from "./linux_host.ts";
import {
  type AgentSide,
  noSystemUpgrades,
  type SystemUpgrades,
  SystemUpgradeService,
} from "./system_upgrade_service.ts";
import { UpgradeRunner } from "./upgrade_runner.ts";

/** What the part is made of. */
export interface SystemUpgradeParts {
  readonly fs: FileSystem;
  readonly paths: ManagedPaths;
  readonly clock: Clock;
  readonly log: Logger;
  readonly deviceId: string;
  readonly lock: AdmissionLock;
  readonly agentSide: () => AgentSide;
  readonly stopping: () => boolean;
  readonly onFatal: (error: unknown) => void;
  /** What packages and the machine are reached by; null where there is no apt. */
  readonly context: StepContext | null;
  /** The boot, or null where the system does not tell it. */
  readonly boot: BootFacts | null;
}

/** The part, as the updater's life uses it. */
export interface OpenedSystemUpgrades {
  readonly upgrades: SystemUpgrades;
  /** Goes on with what an earlier life has begun. */
  proceed(): void;
  /** Makes missing slots of the ledger's reserve, unless an upgrade is under way. */
  refillReserve(): Promise<void>;
  /** Resolves when what is under way has ended, for tests. */
  settled(): Promise<void>;
  /** Ends the updater's part. What changes packages goes on. */
  stop(): Promise<void>;
}

const RUNBOOK = "run `fleet-updater repair` as root; see docs/operations.md, LedgerCorrupt";

function without(upgrades: SystemUpgrades): OpenedSystemUpgrades {
  const nothing = () => Promise.resolve();
  return { upgrades, proceed: () => {}, refillReserve: nothing, settled: nothing, stop: nothing };
}

/**
 * Opens the ledger, and records what a new boot means for the upgrade that was under way. A ledger that cannot be trusted
 * or written keeps system upgrades off and everything else on: it must not cost a device its agent (DESIGN 1, promise 1).
 *
 * @param parts What the part is made of
 * @throws {FleetError} `E_FSYNC` (fatal): the state of the disk is unknown
 */
export async function openSystemUpgrades(parts: SystemUpgradeParts): Promise<OpenedSystemUpgrades> {
  const { fs, paths, log, context, boot } = parts;
  if (context === null || boot === null) {
    const message = "this device cannot upgrade its system: it needs apt, systemd, and an updater that is root";
    return without(noSystemUpgrades(refuse("E_UNSUPPORTED_OPERATION", message)));
  }
  try {
    const { store, record } = await LedgerStore.open(fs, paths);
    return await started(parts, context, boot, store, record);
  } catch (error) {
    if (!isFleetError(error) || error.retry === "fatal") throw error;
    const isCorrupt = error.code === "E_LEDGER_CORRUPT";
    const problem = bounded(isCorrupt ? error.message : `Cannot use the ledger: ${errorText(error)}`);
    const next = isCorrupt ? RUNBOOK : "the next start of the updater tries again";
    const message = isCorrupt ? "ledger corrupt: no system upgrades" : "ledger unusable: no system upgrades";
    log.error(message, { ledger: paths.ledger, error: problem, next });
    const code = isCorrupt ? "E_LEDGER_CORRUPT" : "E_INTERNAL";
    return without(noSystemUpgrades(refuse(code, problem, "environment"), problem));
  }
}

async function started(
  { clock, log, onFatal, ...parts }: SystemUpgradeParts,
  context: StepContext,
  boot: BootFacts,
  store: LedgerStore,
  ledger: Ledger,
): Promise<OpenedSystemUpgrades> {
  const runner = new UpgradeRunner({ ledger, store, context, clock, log, onFatal });
  const refillReserve = async () => {
    if (!runner.active && !store.reserveComplete) await store.refillReserve();
  };
  // Before the first attempt can come: without its reserve the ledger admits none.
  await refillReserve();
  const proceed = await runner.recover(boot);
  return {
    upgrades: new SystemUpgradeService({ ...parts, runner, ledger: store, boot, clock, log }),
    proceed,
    refillReserve,
    settled: () => runner.settled(),
    stop: () => runner.stop(),
  };
}

const PROGRAMS = ["/usr/bin/apt-get", "/usr/bin/dpkg", "/usr/bin/systemd-run", "/usr/bin/timeout"] as const;

/** Number of the file system of a path, or null when there is no such path. */
async function deviceOf(path: string): Promise<number | null> {
  try {
    return (await Deno.stat(path)).dev;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/**
 * apt and this machine, where the updater is root under systemd and apt is there; null elsewhere. The capability is told
 * by this alone (DESIGN 5, System upgrades).
 *
 * @param options Whether systemd keeps the agent, managed paths, bounds
 */
export async function aptContext(
  { underSystemd, ...options }: {
    readonly underSystemd: boolean;
    readonly fs: FileSystem;
    readonly paths: ManagedPaths;
    readonly clock: Clock;
    readonly log: Logger;
    readonly bounds: AptBounds & RebootBounds;
  },
): Promise<StepContext | null> {
  // Below a root of its own is a test or a demo: its packages are the machine's.
  const isRooted = options.paths.stateDirectory !== managedPaths().stateDirectory;
  if (!underSystemd || isRooted || Deno.uid() !== 0) return null;
  for (const program of PROGRAMS) if (await options.fs.stat(program) === null) return null;
  const tool = systemTool(options.clock);
  const command = unitCommand({ clock: options.clock, tool });
  return {
    packages: aptPackageManager({ ...options, tool, command }),
    host: linuxHost({ ...options, tool, command, deviceOf }),
  };
}
