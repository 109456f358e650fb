/**
 * `fleet-operator`: see {@link HELP_TEXT} for its command line and exit codes.
 *
 * @module
 */
import { BUCKET_SPECS, BUCKETS } from "../contracts/buckets.ts";
import { BUILD_FORM, BUILD_VERSION } from "../contracts/build_info.ts";
import { errorText, isFleetError } from "../contracts/errors.ts";
import { RECONCILE_RETRY_MAX_MS, RECONCILE_RETRY_MIN_MS } from "../contracts/limits.ts";
import type { BusOptions } from "../lib/bus/bus_options.ts";
import { connectBusWithin } from "../lib/bus/connect.ts";
import { natsAuth } from "../lib/bus/nats_settings.ts";
import type { Bus, BusAdmin } from "../lib/bus/port.ts";
import { ConfigError } from "../lib/config/read_config.ts";
import { backoffMs, systemClock } from "../lib/deadline.ts";
import { createLogger, type Logger } from "../lib/log.ts";
import { EXIT_CODES, runProgram } from "../lib/program.ts";
import { HELP_TEXT, type Invocation, parseCommandLine } from "./command_line.ts";
import type { OperatorConfig } from "./config.ts";
import { deviceSpecGroups } from "./groups/device_spec_groups.ts";
import { loadConfig } from "./load_config.ts";
import { Operator } from "./operator.ts";
import { ObservedWrites, StoreWrites } from "./reconcile/fleet_writes.ts";
import { BucketBinder } from "./runtime/bucket_binder.ts";
import { EmbeddedStore } from "./stores/embedded.ts";

/** Nobody waits for the operator: it may look for NATS for as long as it takes. */
const FOR_EVER_MS = Number.MAX_SAFE_INTEGER;

function busOptions({ bounds, nats }: OperatorConfig): BusOptions {
  return {
    servers: nats.servers,
    name: "fleet-operator",
    auth: natsAuth(nats),
    ...(nats.caFile === undefined ? {} : { tls: { caFile: nats.caFile } }),
    bounds: {
      connectTimeoutMs: bounds.natsConnectTimeoutMs,
      requestTimeoutMs: bounds.natsRequestTimeoutMs,
      reconnectMinMs: bounds.natsReconnectMinMs,
      reconnectMaxMs: bounds.natsReconnectMaxMs,
      pingIntervalMs: bounds.natsPingIntervalMs,
    },
  };
}

function print(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) written += Deno.stdout.writeSync(bytes.subarray(written));
}

async function connect(config: OperatorConfig, log: Logger, signal: AbortSignal): Promise<Bus & BusAdmin> {
  return await connectBusWithin(busOptions(config), {
    windowMs: FOR_EVER_MS,
    signal,
    onAttempt: ({ error }) => {
      log.state("connect", "cannot connect to NATS yet", { step: error.step, error: errorText(error) }, "warn");
    },
  });
}

/**
 * Does something that needs the broker, again and again until it is done.
 *
 * @throws {FleetError} what trying again does not change: a bucket whose configuration cannot be made right
 */
async function persist(what: string, work: () => Promise<void>, log: Logger, signal: AbortSignal): Promise<void> {
  for (let failures = 0;; failures++) {
    try {
      return await work();
    } catch (error) {
      if (!isFleetError(error) || error.code === "E_BUS_BUCKET_CONFLICT") throw error;
      log.state(what, `cannot ${what} yet`, { code: error.code, error: errorText(error) }, "warn");
      const pauseMs = backoffMs(failures, { minMs: RECONCILE_RETRY_MIN_MS, maxMs: RECONCILE_RETRY_MAX_MS });
      await systemClock.sleep(pauseMs, signal);
    }
  }
}

async function operate(config: OperatorConfig, observe: boolean, log: Logger, signal: AbortSignal): Promise<void> {
  const bus = await connect(config, log, signal);
  try {
    const buckets = { specs: BUCKET_SPECS, fleetSize: config.fleetSize, replicas: config.replicas };
    const ensure = () => bus.ensureBuckets(buckets.specs, buckets.fleetSize, buckets.replicas);
    if (!observe) await persist("make the buckets", ensure, log, signal);
    const binder = new BucketBinder(bus);
    await persist("open the resource store", async () => void await binder.bucket(BUCKETS.resources), log, signal);
    const store = new EmbeddedStore(await binder.bucket(BUCKETS.resources));
    const operator = new Operator({
      bus,
      ...(observe ? {} : { admin: bus }),
      buckets,
      store,
      writes: observe
        ? new ObservedWrites((line) => print(`${line}\n`))
        : new StoreWrites(store, () => binder.bucket(BUCKETS.upgradeIntent)),
      groups: deviceSpecGroups,
      bounds: config.bounds,
      statusWriteIntervalMs: config.bounds.statusWriteIntervalMs,
      foreignWriteSettleMs: config.bounds.foreignWriteSettleMs,
      log,
    });
    log.info("operator started", { version: BUILD_VERSION, observe, fleetSize: config.fleetSize });
    await operator.run(signal);
    log.info("operator stopped");
  } finally {
    await bus.close();
  }
}

async function run(configPath: string, observe: boolean, startLog: Logger, signal: AbortSignal): Promise<number> {
  let config: OperatorConfig;
  try {
    config = await loadConfig(configPath);
  } catch (error) {
    if (error instanceof ConfigError) {
      for (const problem of error.problems) startLog.error("configuration problem", { problem });
    }
    throw error;
  }
  const log = createLogger({ level: config.logLevel, fields: { program: "fleet-operator" } });
  try {
    await operate(config, observe, log, signal);
  } catch (error) {
    // Stopped before it had reached NATS: an end like any other.
    if (!signal.aborted || error !== signal.reason) throw error;
  }
  return EXIT_CODES.ok;
}

async function main(invocation: Invocation, log: Logger, signal: AbortSignal): Promise<number> {
  switch (invocation.kind) {
    case "help":
      print(HELP_TEXT);
      return EXIT_CODES.ok;
    case "version":
      print(`fleet-operator ${BUILD_VERSION} (${BUILD_FORM})\n`);
      return EXIT_CODES.ok;
    case "run":
      return await run(invocation.configPath, invocation.observe, log, signal);
  }
}

async function start(args: readonly string[]): Promise<never> {
  const log = createLogger({ fields: { program: "fleet-operator" } });
  let invocation: Invocation | undefined;
  let problem: unknown;
  try {
    invocation = parseCommandLine(args);
  } catch (error) {
    problem = error;
  }
  return await runProgram({
    name: "fleet-operator",
    ...(invocation?.kind === "run" ? { logger: log } : {}),
    main: (signal) => invocation === undefined ? Promise.reject(problem) : main(invocation, log, signal),
  });
}

if (import.meta.main) await start(Deno.args);
