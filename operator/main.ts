/**
 * `fleet-operator`: see {@link HELP_TEXT} for its command line and exit codes.
 *
 * @module
 */
import { BUILD_FORM, BUILD_VERSION } from "../contracts/build_info.ts";
import { errorText } from "../contracts/errors.ts";
import type { BusOptions } from "../lib/bus/bus_options.ts";
import { connectBusWithin } from "../lib/bus/connect.ts";
import { natsAuth } from "../lib/bus/nats_settings.ts";
import type { Bus, BusAdmin } from "../lib/bus/port.ts";
import { runCommandLine } from "../lib/command_line.ts";
import { ConfigError } from "../lib/config/read_config.ts";
import { createLogger, type Logger } from "../lib/log.ts";
import { EXIT_CODES } from "../lib/program.ts";
import { HELP_TEXT, type Invocation, parseCommandLine } from "./command_line.ts";
import type { OperatorConfig } from "./config.ts";
import { loadConfig } from "./load_config.ts";
import { runOperator } from "./run_operator.ts";

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
    await runOperator({
      config,
      ...(observe ? { observe: (line) => print(`${line}\n`) } : {}),
      connect: (ending) => connect(config, log, ending),
      log,
    }, signal);
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

if (import.meta.main) {
  const log = createLogger({ fields: { program: "fleet-operator" } });
  await runCommandLine({
    name: "fleet-operator",
    args: Deno.args,
    log,
    parse: parseCommandLine,
    isService: ({ kind }) => kind === "run",
    main: (invocation, signal) => main(invocation, log, signal),
  });
}
