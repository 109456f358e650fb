/**
 * `fleet-updater`: the root service that prepares, probes, switches, and commits or rolls back, and root's two commands
 * beside it.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { BUILD_FORM, BUILD_VERSION } from "../contracts/build_info.ts";
import { errorText, FleetError } from "../contracts/errors.ts";
import { managedPaths } from "../contracts/managed_paths.ts";
import { readConfig } from "../lib/config/read_config.ts";
import { systemClock } from "../lib/deadline.ts";
import { osFileSystem } from "../lib/durable/os_file_system.ts";
import { createLogger } from "../lib/log.ts";
import { EXIT_CODES, runProgram } from "../lib/program.ts";
import { idleCommand } from "./commands/idle.ts";
import { repairCommand } from "./commands/repair.ts";
import { serveCommand } from "./commands/serve.ts";
import { type OutputFormat, statusCommand } from "./commands/status.ts";
import { updaterConfig } from "./config.ts";

const HELP = `fleet-updater ${BUILD_VERSION}: upgrades the agent of this device, and rolls it back.

Usage:
  fleet-updater serve                     run the service (as its systemd unit does)
  fleet-updater status [--output json]    show the current or last upgrade
  fleet-updater idle                      say whether nothing is under way, as install.sh asks
  fleet-updater repair                    show what there is to repair
  fleet-updater repair --select previous  select the previous binary, start it, lift the quarantine
  fleet-updater repair --select VERSION   the same with an installed version; also the way out of a corrupt journal

Options:
  --root DIR       prefix of every managed path (default: none)
  --config FILE    configuration (default: ROOT/etc/harmony-fleet/updater.json)
  --output FORMAT  text or json (default: text)
  --version        print the version and the form of this program
  --help           print this text

Exit codes:
  0   done; nothing to repair
  1   refused or failed; the message says why and what to do
  3   the device refuses every attempt until root repairs it (status, idle, repair)
  4   an upgrade is under way (idle)
  64  the command line is wrong
  70  a defect of this program
  75  something outside is not as needed: no updater runs, disk, clock
  78  the configuration or the journal cannot be used

Examples:
  sudo fleet-updater status
  sudo fleet-updater status --output json | jq .transaction.status.phase
  sudo fleet-updater repair --select previous
`;

interface CommandLine {
  readonly command: "serve" | "status" | "idle" | "repair" | "help" | "version";
  readonly root: string;
  readonly config: string | undefined;
  readonly output: OutputFormat;
  readonly select: string | undefined;
}

function usage(problem: string): FleetError {
  return new FleetError(`${problem}; see fleet-updater --help`, { code: "E_USAGE" });
}

function parse(args: readonly string[]): CommandLine {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        root: { type: "string" },
        config: { type: "string" },
        output: { type: "string" },
        select: { type: "string" },
        version: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw usage(errorText(error));
  }
  const { values, positionals: [command, ...rest] } = parsed;
  const common = {
    root: values.root ?? "",
    config: values.config,
    output: outputOf(values.output),
    select: values.select,
  };
  if (values.help === true) return { ...common, command: "help" };
  if (values.version === true) return { ...common, command: "version" };
  if (rest.length > 0) throw usage(`${rest.join(" ")}: too many words`);
  if (command !== "serve" && command !== "status" && command !== "idle" && command !== "repair") {
    throw usage(command === undefined ? "a command is missing" : `${command} is no command`);
  }
  if (values.select !== undefined && command !== "repair") throw usage("--select belongs to repair");
  return { ...common, command };
}

function outputOf(value = "text"): OutputFormat {
  if (value !== "text" && value !== "json") throw usage(`--output is ${value}, must be text or json`);
  return value;
}

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text.endsWith("\n") ? text : `${text}\n`));
}

function progress(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
}

async function run({ command, root, config, output, select }: CommandLine, signal: AbortSignal): Promise<number> {
  const paths = managedPaths(root);
  const log = createLogger();
  const onUnknown = (problem: string) => log.warn("configuration has an unknown member", { problem });
  const configured = () => readConfig(config ?? paths.updaterConfig, updaterConfig, { onUnknown });
  switch (command) {
    case "help":
      print(HELP);
      return EXIT_CODES.ok;
    case "version":
      print(`fleet-updater ${BUILD_VERSION} (${BUILD_FORM})`);
      return EXIT_CODES.ok;
    case "status":
      return await statusCommand(paths, output, print, signal);
    case "idle":
      return await idleCommand(paths, osFileSystem, print, signal);
    case "repair":
      return await repairCommand({
        paths,
        fs: osFileSystem,
        clock: systemClock,
        deviceId: (await configured()).deviceId,
        arch: Deno.build.arch,
        output,
        print,
        progress,
        signal,
        ...(select === undefined ? {} : { select }),
      });
    case "serve":
      return await serveCommand({ paths, config: await configured(), log, signal });
  }
}

if (import.meta.main) {
  const serving = Deno.args.includes("serve");
  await runProgram({
    name: "fleet-updater",
    ...(serving ? { logger: createLogger() } : {}),
    main: (signal) => run(parse(Deno.args), signal),
  });
}
