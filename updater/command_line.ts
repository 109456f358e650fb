/**
 * The updater's command line and its help.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { BUILD_VERSION } from "../contracts/build_info.ts";
import type { FleetError } from "../contracts/errors.ts";
import { usageError } from "../lib/command_line.ts";
import type { OutputFormat } from "./commands/status.ts";

/** What `--help` prints. */
export const HELP_TEXT = `fleet-updater ${BUILD_VERSION}: upgrades the agent of this device, and rolls it back.

Usage:
  fleet-updater serve                     run the service (as its systemd unit does)
  fleet-updater status [--output json]    show the current or last upgrade of the agent, and of the system
  fleet-updater idle                      say whether nothing is under way, as install.sh asks
  fleet-updater repair                    show what there is to repair
  fleet-updater repair --select previous  select the previous binary, start it, lift the quarantine
  fleet-updater repair --select VERSION   the same with an installed version; also the way out of a corrupt journal
  fleet-updater repair --renew-ledger     put the ledger of system upgrades aside and begin a new one, while no updater
                                          runs; attempts made until now are refused from then on

Options:
  --root DIR       prefix of every managed path (default: none)
  --config FILE    configuration (default: ROOT/etc/harmony-fleet/updater.json)
  --output FORMAT  text or json (default: text)
  --version        print the version and the form of this program
  --help           print this text

Exit codes:
  0   done; nothing to repair
  1   refused or failed; the message says why and what to do
  3   the device refuses attempts until root repairs it (status, idle, repair)
  4   an upgrade of the agent or the system is under way (idle)
  64  the command line is wrong
  70  a defect of this program
  75  something outside is not as needed: no updater runs, disk, clock
  78  the configuration or the journal cannot be used

Examples:
  sudo fleet-updater status
  sudo fleet-updater status --output json | jq .transaction.status.phase
  sudo fleet-updater repair --select previous
`;

/** What a command line asks for. */
export interface CommandLine {
  readonly command: "serve" | "status" | "idle" | "repair" | "help" | "version";
  readonly root: string;
  readonly config: string | undefined;
  readonly output: OutputFormat;
  readonly select: string | undefined;
  /** Whether the ledger is put aside. */
  readonly renewLedger: boolean;
}

function usage(problem: unknown): FleetError {
  return usageError("fleet-updater", problem);
}

/**
 * Reads a command line.
 *
 * @param args Words after the program's name
 * @throws {FleetError} `E_USAGE`
 */
export function parseCommandLine(args: readonly string[]): CommandLine {
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
        "renew-ledger": { type: "boolean" },
        version: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw usage(error);
  }
  const { values, positionals: [command, ...rest] } = parsed;
  const { root = "" } = values;
  // Links and the journal name their files by absolute paths: a relative root would make ones that lead nowhere.
  if (root !== "" && !root.startsWith("/")) throw usage(`--root is ${root}, must be an absolute path`);
  const common = {
    root,
    config: values.config,
    output: outputOf(values.output),
    select: values.select,
    renewLedger: values["renew-ledger"] === true,
  };
  if (values.help === true) return { ...common, command: "help" };
  if (values.version === true) return { ...common, command: "version" };
  if (rest.length > 0) throw usage(`${rest.join(" ")}: too many words`);
  if (command !== "serve" && command !== "status" && command !== "idle" && command !== "repair") {
    throw usage(command === undefined ? "a command is missing" : `${command} is no command`);
  }
  if (values.select !== undefined && command !== "repair") throw usage("--select belongs to repair");
  if (common.renewLedger && command !== "repair") throw usage("--renew-ledger belongs to repair");
  if (common.renewLedger && values.select !== undefined) throw usage("--renew-ledger and --select are two repairs");
  return { ...common, command };
}

function outputOf(value = "text"): OutputFormat {
  if (value !== "text" && value !== "json") throw usage(`--output is ${value}, must be text or json`);
  return value;
}
