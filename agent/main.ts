/**
 * `fleet-agent`: the agent of one device. See {@link HELP_TEXT} for its command line and exit codes.
 *
 * @module
 */
import { SOCKET_MESSAGE_MAX_BYTES } from "../contracts/limits.ts";
import type { BusOptions } from "../lib/bus/bus_options.ts";
import { connectBusWithin } from "../lib/bus/connect.ts";
import { natsAuth } from "../lib/bus/nats_settings.ts";
import { runCommandLine } from "../lib/command_line.ts";
import { ConfigError } from "../lib/config/read_config.ts";
import { systemClock } from "../lib/deadline.ts";
import { osFileSystem } from "../lib/durable/os_file_system.ts";
import { acquireLock } from "../lib/durable/process_lock.ts";
import { createLogger, type Logger } from "../lib/log.ts";
import { EXIT_CODES } from "../lib/program.ts";
import { notifierFromEnvironment } from "../lib/systemd/notify.ts";
import { exchange } from "../lib/unix/exchange.ts";
import type { AgentPorts } from "./agent_ports.ts";
import { HELP_TEXT, type Invocation, parseCommandLine } from "./command_line.ts";
import type { AgentConfig } from "./config.ts";
import { type DeviceFacts, readDeviceFacts } from "./device_facts.ts";
import { loadConfig } from "./load_config.ts";
import { PodmanEngine } from "./podman/podman_engine.ts";
import type { ContainerEngine } from "./podman/port.ts";
import { runAgent } from "./run_agent.ts";
import { selfTestRun } from "./self_test_run.ts";
import type { Connector } from "./startup/connect_nats.ts";
import { formatReadinessStatus } from "../contracts/readiness.ts";
import { type UpdaterClient, updaterClient } from "./upgrade/updater_client.ts";
import { watchdogIntervalMs } from "./watchdog.ts";

function busOptions(config: AgentConfig, name: string): BusOptions {
  const { bounds, deviceId, nats } = config;
  return {
    servers: nats.servers,
    name,
    auth: natsAuth(nats),
    deviceId,
    ...(nats.caFile === undefined ? {} : { tls: { caFile: nats.caFile } }),
    bounds: {
      connectTimeoutMs: bounds.natsConnectTimeoutMs,
      requestTimeoutMs: bounds.natsRequestTimeoutMs,
      reconnectMinMs: bounds.natsReconnectMinMs,
      reconnectMaxMs: bounds.natsReconnectMaxMs,
      pingIntervalMs: bounds.natsPingIntervalMs,
      watchHeartbeatMs: bounds.natsWatchHeartbeatMs,
    },
  };
}

function connector(config: AgentConfig, name: string): Connector {
  return (window) => connectBusWithin(busOptions(config, `${name} ${config.deviceId}`), window);
}

function updaterOf({ paths }: AgentConfig): UpdaterClient {
  return updaterClient((document, timeoutMs, signal) =>
    exchange(paths.updaterSocket, document, { timeoutMs, maxBytes: SOCKET_MESSAGE_MAX_BYTES, signal })
  );
}

function engineOf({ podman }: AgentConfig): ContainerEngine | null {
  return podman === null ? null : new PodmanEngine(podman.socket ?? `/run/user/${Deno.uid()}/podman/podman.sock`);
}

/** Starts that the service manager has counted, where it tells. */
function startsFrom(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : undefined;
}

async function print(text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) written += await Deno.stdout.write(bytes.subarray(written));
}

/** A typo in the configuration must not pass unseen, though it keeps no agent from starting. */
function unknownTo(log: Logger): (line: string) => void {
  return (line) => log.warn("configuration has an unknown member", { problem: line });
}

async function runSelfTest(
  configPath: string,
  facts: DeviceFacts,
  startLog: Logger,
  signal: AbortSignal,
): Promise<number> {
  const report = await selfTestRun({
    facts,
    clock: systemClock,
    loadConfig: () => loadConfig(configPath, unknownTo(startLog)),
    connector: (config) => connector(config, "fleet-agent self-test"),
    updater: updaterOf,
    engine: engineOf,
  }, signal);
  await print(`${JSON.stringify(report)}\n`);
  return report.passed ? EXIT_CODES.ok : EXIT_CODES.failed;
}

async function run(configPath: string, facts: DeviceFacts, startLog: Logger, signal: AbortSignal): Promise<number> {
  const notifier = notifierFromEnvironment();
  let config: AgentConfig;
  try {
    await notifier.notify({ status: formatReadinessStatus("config", `reading ${configPath}`) });
    config = await loadConfig(configPath, unknownTo(startLog));
  } catch (error) {
    if (error instanceof ConfigError) {
      for (const problem of error.problems) startLog.error("configuration problem", { problem });
      await notifier.notify({ status: formatReadinessStatus("config", error.message) });
    }
    throw error;
  }
  const ports: AgentPorts = {
    clock: systemClock,
    log: createLogger({ level: config.logLevel, fields: { program: "fleet-agent" } }),
    notifier,
    connect: connector(config, "fleet-agent"),
    client: updaterOf(config),
    engine: engineOf(config),
    lock: acquireLock,
    fileSystem: osFileSystem,
    random: Math.random,
    watchdogMs: watchdogIntervalMs(
      { usec: Deno.env.get("WATCHDOG_USEC"), pid: Deno.env.get("WATCHDOG_PID") },
      Deno.pid,
    ),
    restarts: startsFrom(Deno.env.get("FLEET_AGENT_STARTS")),
  };
  await runAgent({ config, facts, ports }, signal);
  notifier.close();
  return EXIT_CODES.ok;
}

async function main(invocation: Invocation, startLog: Logger, signal: AbortSignal): Promise<number> {
  if (invocation.kind === "help") {
    await print(HELP_TEXT);
    return EXIT_CODES.ok;
  }
  const facts = await readDeviceFacts(Deno.env.get("FLEET_AGENT_BOOT_ID"));
  if (invocation.kind === "version") {
    await print(`fleet-agent ${facts.version} (${facts.arch}, ${facts.form})\n`);
    return EXIT_CODES.ok;
  }
  const { configPath } = invocation;
  return invocation.kind === "self-test"
    ? await runSelfTest(configPath, facts, startLog, signal)
    : await run(configPath, facts, startLog, signal);
}

if (import.meta.main) {
  const log = createLogger({ fields: { program: "fleet-agent" } });
  await runCommandLine({
    name: "fleet-agent",
    args: Deno.args,
    log,
    parse: parseCommandLine,
    isService: ({ kind }) => kind === "run",
    main: (invocation, signal) => main(invocation, log, signal),
  });
}
