/**
 * The process adapter of {@link ServiceManager}: the updater supervises the agent itself, without root and without
 * systemd, and behaves as systemd does with `Type=notify`, `Restart=always`, `KillMode=control-group` and no start
 * limit (`tests/conformance/service_manager.ts`).
 *
 * Guarantees:
 * - a start ends at READY, at the first end of the process before it, at the time limit, or without a verdict; after a
 *   failed one the program is started again and again, until a stop;
 * - a stop ends with no process of the agent left, also none that left the agent's process group;
 * - the agent outlives the updater; the next updater adopts it if it was READY, and stops it before any start if not.
 *
 * @module
 */
import { isFleetError } from "../../contracts/errors.ts";
import {
  AGENT_OUTPUT_CHECK_MS,
  SERVICE_RESTART_DELAY_MS,
  SERVICE_START_TIMEOUT_MS,
  SERVICE_STOP_TIMEOUT_MS,
  UPDATER_START_BOUND_MS,
  UPDATER_STOP_BOUND_MS,
} from "../../contracts/limits.ts";
import type { ManagedPaths } from "../../contracts/managed_paths.ts";
import { type Clock, systemClock, withDeadline } from "../../lib/deadline.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import type { Logger } from "../../lib/log.ts";
import { loweredBound } from "../../lib/lowered_bound.ts";
import type { ManagedService, ServiceState, StartOutcome, StopOutcome } from "../ports.ts";
import { agentCommand, type AgentSurroundings, newInvocationId } from "../process/agent_command.ts";
import { currentBootId } from "../process/process_table.ts";
import { AgentOutput } from "./agent_output.ts";
import { adoptAgent, spawnAgent } from "./agent_process.ts";
import { AgentRun } from "./agent_run.ts";
import { NotifyInbox } from "./notify_inbox.ts";
import { ProcessRecordFile } from "./process_record.ts";
import { Supervision } from "./supervision.ts";
import { terminate, type Termination } from "./terminate.ts";

/** Bounds of the adapter, in ms; each can be lowered below its limit only. */
export interface ProcessServiceBounds {
  readonly startTimeoutMs?: number;
  readonly stopTimeoutMs?: number;
  readonly restartDelayMs?: number;
  /** Silence after READY for which the agent is ended. Default: none is too long */
  readonly watchdogMs?: number;
}

/** What the adapter is made of. */
export interface ProcessServiceOptions extends AgentSurroundings {
  readonly paths: Pick<
    ManagedPaths,
    "agentLink" | "agentConfig" | "processRecord" | "agentOutput" | "notifySocket"
  >;
  readonly fs: FileSystem;
  readonly log: Logger;
  readonly bounds?: ProcessServiceBounds;
  /** Default {@link systemClock} */
  readonly clock?: Clock;
}

/** A service manager that is itself a part of the updater. */
export type ProcessService = ManagedService;

const STOPPING = { kind: "no-verdict", why: "stopping", message: "the updater is stopping" } as const;
const CANCELED = { kind: "no-verdict", why: "canceled", message: "a stop came before the agent was ready" } as const;
/** The updater's bounds are the service's own and a margin. */
const START_MARGIN_MS = UPDATER_START_BOUND_MS - SERVICE_START_TIMEOUT_MS;
const STOP_MARGIN_MS = UPDATER_STOP_BOUND_MS - SERVICE_STOP_TIMEOUT_MS;

class ProcessServiceAdapter implements ProcessService {
  readonly unit = "fleet-agent";
  readonly #options: ProcessServiceOptions;
  readonly #clock: Clock;
  readonly #startTimeoutMs: number;
  readonly #stopTimeoutMs: number;
  readonly #closing = new AbortController();
  readonly #output: AgentOutput;
  readonly #record: ProcessRecordFile;
  readonly #inbox: NotifyInbox;
  #supervision: Supervision | null = null;
  /** Starts of the agent by this life of the updater, for the agent's vitals. */
  #starts = 0;
  #stopping: Promise<StopOutcome> | null = null;
  /** Whether the last stop had to kill. */
  #failed = false;

  constructor(options: ProcessServiceOptions) {
    const { paths, fs, log, bounds, clock = systemClock, user } = options;
    this.#options = options;
    this.#clock = clock;
    this.#startTimeoutMs = loweredBound(SERVICE_START_TIMEOUT_MS, bounds?.startTimeoutMs);
    this.#stopTimeoutMs = loweredBound(SERVICE_STOP_TIMEOUT_MS, bounds?.stopTimeoutMs);
    this.#output = new AgentOutput(paths.agentOutput);
    this.#record = new ProcessRecordFile(fs, paths.processRecord, log);
    this.#inbox = new NotifyInbox({
      path: paths.notifySocket,
      clock,
      log,
      onNotification: (notification) => {
        const taken = this.#supervision?.run?.take(notification, clock.monotonicMs());
        if (taken !== true) log.debug("notification not for the agent's process", { ...notification });
      },
      ...(user === undefined ? {} : { gid: user.gid }),
    });
  }

  /** Takes over the agent of an earlier updater, if it was ready. */
  async adopt(): Promise<void> {
    const record = await this.#record.load();
    if (record === null || !record.ready || record.bootId !== currentBootId()) return;
    const process = adoptAgent(record, this.#clock);
    if (process === null) return;
    this.#options.log.info("agent adopted", { pid: record.pid, invocationId: record.invocationId });
    this.#supervise(new AgentRun(process, record.invocationId, this.#clock.monotonicMs(), true));
  }

  async start(): Promise<StartOutcome> {
    await this.#stopping;
    if (this.#closing.signal.aborted) return STOPPING;
    const supervision = this.#supervision ?? this.#supervise(null);
    const { phase, run } = supervision;
    if (phase === "running" && run !== null) return { kind: "ready", invocationId: run.invocationId };
    const boundMs = this.#startTimeoutMs + START_MARGIN_MS;
    try {
      return await withDeadline(boundMs, "start the agent", () => supervision.nextOutcome(), { clock: this.#clock });
    } catch (error) {
      if (!isFleetError(error, "E_DEADLINE")) throw error;
      return { kind: "no-verdict", why: "bus-error", message: `the start had no outcome within ${boundMs} ms` };
    }
  }

  ensureRunning(): void {
    if (this.#closing.signal.aborted || this.#stopping !== null) return;
    if (this.#supervision === null) this.#supervise(null);
  }

  async stop(): Promise<StopOutcome> {
    if (this.#closing.signal.aborted) return STOPPING;
    this.#stopping ??= this.#stop().finally(() => this.#stopping = null);
    const boundMs = this.#stopTimeoutMs + STOP_MARGIN_MS;
    const stopping = this.#stopping;
    try {
      return await withDeadline(boundMs, "stop the agent", () => stopping, { clock: this.#clock });
    } catch (error) {
      if (!isFleetError(error, "E_DEADLINE")) throw error;
      return { kind: "not-stopped", message: `the agent had not stopped within ${boundMs} ms` };
    }
  }

  resetFailed(): Promise<void> {
    this.#failed = false;
    return Promise.resolve();
  }

  show(): Promise<ServiceState> {
    return Promise.resolve(this.#state());
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const supervision = this.#supervision;
    supervision?.end(STOPPING);
    await supervision?.done;
    await this.#stopping;
    supervision?.run?.process.release();
    await this.#inbox.close();
    await this.#record.settled();
  }

  #state(): ServiceState {
    const supervision = this.#supervision;
    if (supervision === null) return { active: this.#failed ? "failed" : "inactive", restarts: 0 };
    const { phase, run, restarts } = supervision;
    const gone = phase === "restarting" || run === null;
    return {
      active: this.#stopping !== null || phase === "ending"
        ? "deactivating"
        : phase === "running"
        ? "active"
        : "activating",
      restarts,
      ...(gone ? {} : { mainPid: run.process.pid }),
      ...(run === null ? {} : { invocationId: run.invocationId }),
      ...(run?.statusText === undefined ? {} : { statusText: run.statusText }),
    };
  }

  #supervise(adopted: AgentRun | null): Supervision {
    const { log, bounds } = this.#options;
    this.#failed = false;
    const supervision = new Supervision({
      launch: () => this.#launch(),
      clear: (run) => this.#clear(run),
      flushNotifications: () => this.#inbox.flush(),
      outputTail: () => this.#output.tail(),
      onReady: (run) => this.#remember(run),
      clock: this.#clock,
      log,
      startTimeoutMs: this.#startTimeoutMs,
      restartDelayMs: loweredBound(SERVICE_RESTART_DELAY_MS, bounds?.restartDelayMs),
      ...(bounds?.watchdogMs === undefined ? {} : { watchdogMs: bounds.watchdogMs }),
    }, adopted);
    this.#supervision = supervision;
    void this.#boundOutput(supervision.signal);
    return supervision;
  }

  async #launch(): Promise<AgentRun> {
    const { paths, bounds, log } = this.#options;
    const invocationId = newInvocationId();
    const args = ["--config", paths.agentConfig];
    const command = agentCommand(selectedProgram(paths.agentLink), args, this.#options, {
      NOTIFY_SOCKET: paths.notifySocket,
      INVOCATION_ID: invocationId,
      FLEET_AGENT_STARTS: `${++this.#starts}`,
      ...(bounds?.watchdogMs === undefined ? {} : { WATCHDOG_USEC: `${bounds.watchdogMs * 1_000}` }),
    });
    const startedMs = this.#clock.monotonicMs();
    const process = await this.#output.begin((descriptor) => {
      const level = descriptor === null ? "warn" : "debug";
      log.state("agent output", "agent output file", { kept: descriptor !== null }, level);
      return spawnAgent(command, descriptor);
    });
    const run = new AgentRun(process, invocationId, startedMs);
    this.#remember(run);
    return run;
  }

  #remember(run: AgentRun): void {
    const bootId = currentBootId();
    if (bootId === undefined) return;
    const { process: { pid, startTicks }, invocationId, isReady } = run;
    this.#record.save({ schema: 1, bootId, pid, startTicks, invocationId, ready: isReady });
  }

  /** Ends what is left of a run and all that only the environment tells to belong to the agent. */
  #clear(run: AgentRun | null): Promise<Termination> {
    return terminate({
      mark: { name: "NOTIFY_SOCKET", value: this.#options.paths.notifySocket },
      timeoutMs: this.#stopTimeoutMs,
      signal: this.#closing.signal,
      ...(run === null ? {} : { leader: run.process, leaderExited: run.process.exited }),
    }, this.#clock);
  }

  async #stop(): Promise<StopOutcome> {
    const supervision = this.#supervision;
    supervision?.end(CANCELED);
    await supervision?.done;
    const termination = await this.#clear(supervision?.run ?? null);
    if (this.#closing.signal.aborted) return STOPPING;
    if (termination === "left") {
      return { kind: "not-stopped", message: "a process of the agent is left and cannot be killed" };
    }
    supervision?.run?.process.release();
    this.#supervision = null;
    this.#failed = termination === "killed";
    if (supervision !== null) this.#options.log.info("agent stopped", { killed: this.#failed });
    this.#record.clear();
    return { kind: "stopped" };
  }

  async #boundOutput(signal: AbortSignal): Promise<void> {
    try {
      for (;;) {
        await this.#clock.sleep(AGENT_OUTPUT_CHECK_MS, signal);
        this.#output.trim();
      }
    } catch {
      // The supervision has ended.
    }
  }
}

/** The binary that the link selects, so that a later change of the link cannot mix two of them in one start. */
function selectedProgram(link: string): string {
  try {
    return Deno.realPathSync(link);
  } catch {
    return link;
  }
}

/**
 * Opens the process adapter and adopts the agent of an earlier updater. The caller holds the updater's lock.
 *
 * @param options Paths, user, bounds
 * @throws {FleetError} `E_NOTIFY_*` when the notify socket cannot be made
 */
export async function openProcessService(options: ProcessServiceOptions): Promise<ProcessService> {
  const adapter = new ProcessServiceAdapter(options);
  await adapter.adopt();
  return adapter;
}
