/**
 * The command line of `fleet-operator`.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { BUILD_VERSION } from "../contracts/build_info.ts";
import type { FleetError } from "../contracts/errors.ts";
import { usageError } from "../lib/command_line.ts";

/** Where the configuration stands by default. */
export const DEFAULT_CONFIG_PATH = "/etc/harmony-fleet/operator.json";

/** What `--help` prints. */
export const HELP_TEXT = `fleet-operator ${BUILD_VERSION}: decides which device runs which version of the agent.

Usage:
  fleet-operator [--config FILE]            run (any number of operators may run at once)
  fleet-operator [--config FILE] --observe  write nothing: print what would be written, one JSON line per write

Options:
  --config FILE  configuration (default: ${DEFAULT_CONFIG_PATH})
  --observe      for after a restore of NATS from a backup: look before the fleet is changed; stop it with Ctrl-C
  --version      print the version and the form of this program
  --help         print this text

Exit codes:
  0   stopped by a signal, everything that was begun is done
  1   refused; the message says why
  64  the command line is wrong
  70  a defect of this program
  78  the configuration cannot be used

While NATS cannot be reached the operator waits and says so in its log; it never ends for that.

Examples:
  fleet-operator --config operator.json
  fleet-operator --config operator.json --observe | jq 'select(.write == "writeAttempt")'
`;

/** What a command line asks for. */
export type Invocation =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "run"; readonly configPath: string; readonly observe: boolean };

/**
 * Reads the command line.
 *
 * @param args Arguments after the program's name
 * @throws {FleetError} `E_USAGE`
 */
export function parseCommandLine(args: readonly string[]): Invocation {
  let values;
  try {
    values = parseArgs({
      args: [...args],
      options: {
        config: { type: "string" },
        observe: { type: "boolean" },
        version: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw usage(error);
  }
  if (values.help === true) return { kind: "help" };
  if (values.version === true) return { kind: "version" };
  if (values.config === "") throw usage("Cannot use --config: it names no file");
  return { kind: "run", configPath: values.config ?? DEFAULT_CONFIG_PATH, observe: values.observe ?? false };
}

function usage(problem: unknown): FleetError {
  return usageError("fleet-operator", problem);
}
