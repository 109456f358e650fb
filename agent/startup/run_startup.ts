/**
 * The start of an agent, step by step in the seed's order (`Fleet agent upgrades`, Readiness and commit).
 *
 * @module
 */
import { isTerminalPhase } from "../../contracts/agent_upgrade.ts";
import { FleetError, isFleetError } from "../../contracts/errors.ts";
import type { UpdaterState } from "../../contracts/updater_protocol.ts";
import type { Bus } from "../../lib/bus/port.ts";
import type { AgentPorts } from "../agent_ports.ts";
import type { AgentConfig } from "../config.ts";
import { judgeVersion } from "../core/compiled_version.ts";
import type { DeviceFacts } from "../device_facts.ts";
import { readLastDrain } from "../last_drain_file.ts";
import { Session } from "../session.ts";
import { awaitUpdater } from "./await_updater.ts";
import { clockProblem } from "./clock_sanity.ts";
import { connectNats } from "./connect_nats.ts";
import { openBuckets } from "./open_buckets.ts";
import type { ReadinessReporter } from "./readiness_reporter.ts";
import { RetryWindow } from "./retry_window.ts";
import { StartupError } from "./startup_error.ts";

/** What the start works with. The lock is held already. */
export interface StartupOptions {
  readonly config: AgentConfig;
  readonly facts: DeviceFacts;
  readonly ports: AgentPorts;
  readonly reporter: ReadinessReporter;
  /** Called with the connection, so that it is closed however the start ends. */
  readonly onBus: (bus: Bus) => void;
  /** Called once device info is published: from here on the device can be seen. */
  readonly onVisible: (session: Session) => void;
}

/**
 * Takes every step before READY.
 *
 * @param options What it works with
 * @param signal Ends it; the call then rejects with its reason
 * @returns the session, everything of which is ready to run
 * @throws {StartupError} Naming the step
 */
export async function runStartup(options: StartupOptions, signal: AbortSignal): Promise<Session> {
  const { config, facts, onVisible, ports, reporter } = options;
  const window = new RetryWindow({
    windowMs: config.bounds.natsRetryWindowMs,
    pauseMs: config.bounds.startupRetryMs,
    clock: ports.clock,
    reporter,
  });
  const podmanAway = await podmanProblem(options, signal);
  await reporter.enter("clock", "looking at the clock");
  const insane = clockProblem(ports.clock.nowMs());
  if (insane !== null) ports.log.warn("the clock is not set", { error: insane.message });
  const session = await openSession(options, window, signal);
  await reporter.enter("device-info", "publishing device info");
  await window.retry("device-info", () => session.publishInfo(), signal);
  onVisible(session);
  if (podmanAway !== null) await awaitPodman(options, window, session, podmanAway, signal);
  const state = await awaitUpdater({
    updater: session.updater,
    pauseMs: config.bounds.startupRetryMs,
    clock: ports.clock,
    reporter,
    onWait: () => session.heartbeats.poke(),
  }, signal);
  await reporter.enter("version", `this agent is ${facts.version}`);
  requireVersion(options, state);
  await reporter.enter("snapshot", "taking the desired state");
  await window.retry("snapshot", () => session.desired.take(), signal);
  await reporter.enter("status", "publishing the transaction's status");
  await window.retry("status", () => publishActive(session, state), signal);
  return session;
}

/**
 * Reaches Podman, in the seed's order. When that fails, the agent first goes on to where it can say so: a device that
 * waits for Podman must not look like one that is off.
 *
 * @returns what is wrong; null when nothing is
 */
async function podmanProblem({ ports, reporter }: StartupOptions, signal: AbortSignal): Promise<FleetError | null> {
  const { engine, log } = ports;
  await reporter.enter("podman", engine === null ? "Podman is not enabled" : "reaching Podman");
  if (engine === null) return null;
  try {
    log.debug("Podman is reached", { version: await engine.version(signal) });
    return null;
  } catch (error) {
    signal.throwIfAborted();
    if (!isFleetError(error)) throw error;
    return error;
  }
}

async function awaitPodman(
  { ports, reporter }: StartupOptions,
  window: RetryWindow,
  session: Session,
  problem: FleetError,
  signal: AbortSignal,
): Promise<void> {
  await reporter.enter("podman", "reaching Podman");
  await reporter.wait("podman", problem, window.leftMs);
  session.heartbeats.poke();
  await window.retry("podman", async () => void await ports.engine?.version(signal), signal);
}

async function openSession(options: StartupOptions, window: RetryWindow, signal: AbortSignal): Promise<Session> {
  const { config, facts, onBus, ports, reporter } = options;
  const { clock, connect, fileSystem, log } = ports;
  const bus = await connectNats({ connect, window, reporter, clock }, signal);
  onBus(bus);
  await reporter.enter("buckets", "opening buckets");
  const buckets = await window.retry("buckets", () => openBuckets(bus), signal);
  const lastDrain = await readLastDrain(fileSystem, config.paths.lastDrain, log);
  const session = new Session({ config, facts, ports, bus, buckets, reporter, lastDrain });
  bus.onStatus((status) => session.onBusStatus(status));
  return session;
}

function requireVersion({ config, facts, ports }: StartupOptions, { transaction }: UpdaterState): void {
  const verdict = judgeVersion(facts.version, transaction, config.paths);
  if (verdict.kind === "wrong") throw new StartupError("version", verdict.message, "version");
  if (verdict.kind === "differs") ports.log.warn("unexpected version", { detail: verdict.message });
}

/** The status of a transaction that is under way; one that has ended is left to the mirror's loop. */
async function publishActive({ intents, mirror }: Session, state: UpdaterState): Promise<void> {
  if (state.transaction === null || isTerminalPhase(state.transaction.status.phase)) return;
  const newer = { intent: intents.newest?.identity ?? null, forwarding: null };
  if (await mirror.write(state, newer)) return;
  throw new FleetError("Cannot publish the status: somebody else wrote it", {
    code: "E_BUS_CONFLICT",
    retry: "transient",
    failureClass: "environment",
  });
}
