/**
 * The life of an agent: lock, start, READY, loops, drain.
 *
 * @module
 */
import { errorText } from "../contracts/errors.ts";
import { DRAIN_CLOSE_TIMEOUT_MS } from "../contracts/limits.ts";
import type { Bus } from "../lib/bus/port.ts";
import { withDeadline } from "../lib/deadline.ts";
import type { AgentPorts } from "./agent_ports.ts";
import type { AgentConfig } from "./config.ts";
import type { DeviceFacts } from "./device_facts.ts";
import { writeLastDrain } from "./last_drain_file.ts";
import type { Session } from "./session.ts";
import { ReadinessReporter } from "./startup/readiness_reporter.ts";
import { runStartup } from "./startup/run_startup.ts";
import { StartupError, startupErrorOf } from "./startup/startup_error.ts";
import { takeLock } from "./startup/take_lock.ts";
import { drain } from "./upgrade/drain.ts";
import { feedWatchdog } from "./watchdog.ts";

/** What an agent is made from. */
export interface AgentOptions {
  readonly config: AgentConfig;
  readonly facts: DeviceFacts;
  readonly ports: AgentPorts;
  /** Called at READY, for a reconciler that wants the gate, and for tests. */
  readonly onReady?: (session: Session) => void;
}

/** The loops of an agent. They run until they are told to end; a defect in one ends the agent. */
class Loops {
  readonly #ending = new AbortController();
  readonly #running: Promise<void>[] = [];
  readonly #failure = Promise.withResolvers<never>();

  constructor() {
    this.#failure.promise.catch(() => {});
  }

  /** Rejects when a loop ends by a defect. */
  get failure(): Promise<never> {
    return this.#failure.promise;
  }

  start(loop: (signal: AbortSignal) => Promise<void>): void {
    const running = loop(this.#ending.signal).catch((error) => {
      if (!this.#ending.signal.aborted) this.#failure.reject(error);
    });
    this.#running.push(running);
  }

  /** Tells all loops to end. */
  end(): void {
    this.#ending.abort();
  }

  /** Resolves when they have. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }
}

/**
 * Runs the agent until the signal aborts.
 *
 * @param options Configuration, device, ports
 * @param signal Asks it to end: before READY it ends at once, after it drains
 * @throws {StartupError} when it does not become READY; its class decides the exit code
 */
export async function runAgent(options: AgentOptions, signal: AbortSignal): Promise<void> {
  const { config, ports } = options;
  const reporter = new ReadinessReporter(ports.notifier, ports.log);
  const loops = new Loops();
  let bus: Bus | undefined;
  await reporter.enter("lock", "taking the lock");
  const lock = await takeLock(ports, config.paths).catch((error) => failed(reporter, signal, error));
  try {
    let visible: Session | undefined;
    const session = await runStartup({
      ...options,
      reporter,
      onBus: (connection) => bus = connection,
      onVisible: (started) => {
        visible = started;
        loops.start((ending) => started.heartbeats.run(ending));
      },
    }, signal).catch((error) => failed(reporter, signal, error, visible));
    await serve(options, session, reporter, loops, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    ports.log.info("stopped before it was ready", { step: reporter.state.step });
  } finally {
    loops.end();
    await closeAll(options, loops, bus);
    lock.release();
  }
}

/** Leaves the failure of a step as the last words to the service manager, and in NATS where that can be reached. */
async function failed(
  reporter: ReadinessReporter,
  signal: AbortSignal,
  error: unknown,
  visible?: Session,
): Promise<never> {
  const failure = startupErrorOf(reporter.state.step, error);
  if (failure instanceof StartupError && !signal.aborted) {
    await reporter.fail(failure.step, failure);
    if (visible?.bus.connected === true) await visible.publishInfo().catch(() => {});
  }
  throw failure;
}

async function serve(
  { config, facts, onReady, ports }: AgentOptions,
  session: Session,
  reporter: ReadinessReporter,
  loops: Loops,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, notifier } = ports;
  await notifier.notify({ ready: true, mainPid: Deno.pid, status: `agent ${facts.version} is ready` }, signal);
  reporter.ready();
  session.gate.open();
  startLoops(ports, session, loops);
  session.heartbeats.poke();
  log.info("ready", { deviceId: config.deviceId, version: facts.version });
  onReady?.(session);
  const defect = await ending(signal, loops.failure, session.closed);
  loops.end();
  await drain({
    deviceId: config.deviceId,
    gate: session.gate,
    client: ports.client,
    bus: session.bus,
    status: session.status,
    record: (last) => writeLastDrain(ports.fileSystem, config.paths.lastDrain, last),
    notifier,
    mutationTimeoutMs: config.bounds.drainMutationTimeoutMs,
    clock,
    log,
  });
  if (defect !== undefined) throw defect;
}

/** Waits for the end, and returns what was not asked for: a defect, or a connection that is no more. */
async function ending(signal: AbortSignal, ...failures: Promise<never>[]): Promise<unknown> {
  try {
    return await Promise.race([aborted(signal), ...failures]);
  } catch (error) {
    return error;
  }
}

function startLoops({ clock, log, notifier, watchdogMs }: AgentPorts, session: Session, loops: Loops): void {
  const { board, desired, intents, progress, upgrades, workloads } = session;
  loops.start((ending) => intents.run(ending));
  loops.start((ending) => upgrades.run(ending));
  loops.start((ending) => session.systemIntents.run(ending));
  loops.start((ending) => session.systemUpgrades.run(ending));
  loops.start((ending) => desired.run(ending));
  loops.start((ending) => board.run(ending));
  if (workloads !== null) loops.start((ending) => workloads.run(ending));
  if (watchdogMs === null) return;
  loops.start((ending) => feedWatchdog({ intervalMs: watchdogMs, notifier, progress, clock, log }, ending));
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
}

async function closeAll({ ports }: AgentOptions, loops: Loops, bus: Bus | undefined): Promise<void> {
  const { clock, log } = ports;
  try {
    await withDeadline(DRAIN_CLOSE_TIMEOUT_MS, "close connections", async () => {
      await loops.ended();
      await bus?.close();
    }, { clock });
  } catch (error) {
    // The process ends in a moment, and takes with it what did not end by itself.
    log.warn("a connection could not be closed", { error: errorText(error) });
  }
}
