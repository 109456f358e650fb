/**
 * A device whose disk and processes are simulated, and whose updater is the real one: journal store, interpreter,
 * candidate and admission. One *life* is the updater's process from its start until it is killed or has nothing to do.
 *
 * @module
 */
import type { AgentUpgradeAttempt } from "../../contracts/agent_upgrade.ts";
import { sha256Hex } from "../../contracts/digest.ts";
import { FleetError } from "../../contracts/errors.ts";
import { binaryPath, type ManagedPaths, managedPaths } from "../../contracts/managed_paths.ts";
import type { UpdaterResponse } from "../../contracts/updater_protocol.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import { replaceFile } from "../../lib/durable/replace_file.ts";
import { selectLink } from "../../lib/durable/replace_link.ts";
import { createLogger, type Logger } from "../../lib/log.ts";
import { isActive } from "../../updater/core/record.ts";
import { Interpreter } from "../../updater/interpreter.ts";
import { JournalStore } from "../../updater/journal_store.ts";
import type { Fetcher, Prober } from "../../updater/ports.ts";
import { UpgradeService } from "../../updater/upgrade_service.ts";
import { MemoryFileSystem } from "../fakes/memory_file_system.ts";
import { sampleAttempt } from "../fakes/upgrade_samples.ts";
import { type Gate, gatedFileSystem } from "./gated_file_system.ts";
import { type AgentBehaviour, agentBinary, type AgentProcess, SimulatedService } from "./simulated_service.ts";

/** Paths of every simulated device. */
export const PATHS: ManagedPaths = managedPaths("");

/** What is tried on a device. */
export interface Scenario {
  readonly name: string;
  readonly candidate: AgentBehaviour;
  /** How the previous agent behaves. Default `ready` */
  readonly previous?: AgentBehaviour;
  readonly fetch?: "whole" | "wrong-bytes" | "breaks";
  readonly probe?: "passes" | "fails";
  /** Starts that find no NATS, the candidate's included. */
  readonly outageStarts?: number;
  /** Stops that leave a process behind. */
  readonly refusedStops?: number;
  /** Another attempt than the one before, for the same version. */
  readonly next?: boolean;
  /** Public phase in which the attempt ends when nothing is interrupted. */
  readonly ends: "complete" | "failed" | "rollback-failed";
}

/** How a life ended. */
export type LifeEnd =
  | { readonly kind: "idle"; readonly response?: UpdaterResponse }
  | { readonly kind: "killed" }
  /** The process ended itself: the state of its disk was unknown. */
  | { readonly kind: "fatal"; readonly error: unknown };

/** One life of the updater. */
export interface LifeOptions {
  readonly disk: FileSystem;
  readonly process: AgentProcess;
  readonly scenario: Scenario;
  /** Whether the scenario's attempt is sent once the updater is READY. */
  readonly send: boolean;
  readonly gate?: Gate;
  /** Whether the machine has just booted: the unit is then started as the system does. */
  readonly boot?: boolean;
}

/** The attempt of a scenario. */
export function attemptOf({ candidate, fetch, next = false }: Scenario): AgentUpgradeAttempt {
  const bytes = agentBinary("2.0.0", candidate);
  const sha256 = fetch === "wrong-bytes" ? "0".repeat(64) : sha256Hex(bytes);
  return sampleAttempt({
    ...(next ? { attemptId: "3b9c3d1e-6f5a-4b7c-8d9e-0a1b2c3d4e5f" } : {}),
    artifact: { url: "https://artifacts.example/2", maxBytes: bytes.byteLength, sha256 },
  });
}

/** A process table with the previous agent running. */
export function runningAgent({ outageStarts = 0, refusedStops = 0 }: Scenario): AgentProcess {
  return { running: { version: "1.0.0" }, starts: new Map(), outageStarts, refusedStops };
}

/**
 * Sets a device up: the previous agent installed and selected, the journal's reserve filled, all of it durable.
 *
 * @param disk An empty disk
 * @param scenario The scenario
 */
export async function setUpDisk(disk: FileSystem, { previous = "ready" }: Scenario): Promise<void> {
  for (const path of [PATHS.binariesDirectory, "/usr/local/bin", PATHS.stateDirectory, PATHS.reserveDirectory]) {
    await disk.makeDirectory(path, 0o755);
  }
  const binary = binaryPath(PATHS, "1.0.0");
  await replaceFile(disk, binary, agentBinary("1.0.0", previous), { mode: 0o755 });
  await selectLink(disk, PATHS.agentLink, binary);
  await (await JournalStore.open(disk, PATHS)).store.refillReserve();
}

const ENVIRONMENT = { retry: "transient", failureClass: "environment" } as const;

/** A device before its upgrade. */
export interface SimulatedDevice {
  readonly disk: MemoryFileSystem;
  readonly process: AgentProcess;
}

/**
 * A device before its upgrade, with everything on its disk durable.
 *
 * @param scenario What will be tried
 */
export async function newDevice(scenario: Scenario): Promise<SimulatedDevice> {
  const disk = new MemoryFileSystem();
  await setUpDisk(disk, scenario);
  disk.syncAll();
  return { disk, process: runningAgent(scenario) };
}

export function fetcherOf({ candidate, fetch = "whole" }: Scenario): Fetcher {
  return {
    schemes: ["https"],
    async *fetch({ offsetBytes = 0 }) {
      const bytes = agentBinary("2.0.0", candidate);
      const half = Math.max(offsetBytes, 4_096);
      yield bytes.subarray(offsetBytes, half);
      if (fetch === "breaks") throw new FleetError("the body broke off", { code: "E_FETCH_TRUNCATED", ...ENVIRONMENT });
      yield bytes.subarray(half);
    },
  };
}

export function proberOf({ probe = "passes" }: Scenario): Prober {
  return {
    probe: () =>
      Promise.resolve(
        probe === "passes" ? { kind: "passed" } : {
          kind: "failed",
          reason: "SelfTestFailed",
          error: "the self-test failed",
          failureClass: "version",
          postMortem: { stage: "probe", result: "exit-code", exitCode: 1 },
        },
      ),
  };
}

/** A clock that moves with every look, and pauses that cost nothing. */
export function fastClock(): Clock {
  let nowMs = Date.parse("2026-06-01T12:00:00.000Z");
  return { nowMs: () => nowMs++, monotonicMs: () => nowMs++, sleep: () => Promise.resolve() };
}

const QUIET: Logger = createLogger({ sink: () => {}, format: "json", level: "error" });

/**
 * Lives one life of the updater. Where the gate never opens again the process counts as killed; what it would have done
 * next never happens.
 *
 * @param options Disk, processes, scenario, gate
 * @param killed Resolves when the gate has closed for good
 */
export function live(options: LifeOptions, killed: Promise<void> = new Promise(() => {})): Promise<LifeEnd> {
  const { disk, process, scenario, send, boot = false, gate = () => Promise.resolve() } = options;
  const fs = gatedFileSystem(disk, gate);
  const services = new SimulatedService(disk, PATHS.agentLink, process, gate);
  const fatal = Promise.withResolvers<LifeEnd>();
  const onFatal = (error: unknown) => fatal.resolve({ kind: "fatal", error });
  const life = async (): Promise<LifeEnd> => {
    const clock = fastClock();
    const { store, record } = await JournalStore.open(fs, PATHS);
    const context = {
      fs,
      paths: PATHS,
      fetcher: fetcherOf(scenario),
      prober: proberOf(scenario),
      services,
      clock,
      log: QUIET,
    };
    const interpreter = new Interpreter({ record, store, context, onFatal });
    const proceed = await interpreter.recover();
    // READY: a booted system starts the unit now, beside what the updater still has to do.
    if (boot) await services.boot();
    proceed();
    await interpreter.settled();
    let response: UpdaterResponse | undefined;
    if (send && !isActive(interpreter.record)) {
      const service = new UpgradeService({
        interpreter,
        journal: store,
        fs,
        paths: PATHS,
        log: QUIET,
        deviceId: "device-1",
        arch: "x86_64",
        schemes: ["https"],
        updaterVersion: "1.0.0",
        journalUnit: services.unit,
      });
      const attempt = attemptOf(scenario);
      response = await service.upgrade(attempt, attempt, new AbortController().signal);
      await interpreter.settled();
    }
    await store.refillReserve();
    return response === undefined ? { kind: "idle" } : { kind: "idle", response };
  };
  const ended = life().catch((error): LifeEnd => ({ kind: "fatal", error }));
  return Promise.race([ended, fatal.promise, killed.then((): LifeEnd => ({ kind: "killed" }))]);
}
