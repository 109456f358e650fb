/**
 * The command line of `fleet-agent`.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { managedPaths } from "../contracts/managed_paths.ts";
import { usageError } from "../lib/command_line.ts";

/** What a command line asks for. */
export type Invocation =
  | { readonly kind: "run"; readonly configPath: string }
  | { readonly kind: "self-test"; readonly configPath: string }
  | { readonly kind: "version" }
  | { readonly kind: "help" };

const DEFAULT_CONFIG_PATH = managedPaths().agentConfig;

/** What `--help` prints. */
export const HELP_TEXT = `usage: fleet-agent [--config FILE]
       fleet-agent --self-test [--config FILE]

Runs the agent of one device: applies its desired state from NATS, and hands upgrade attempts to the updater.

  --config FILE  the configuration (default ${DEFAULT_CONFIG_PATH})
  --self-test    check everything that a start needs, print one JSON report, change nothing
  --version      print the version
  --help         print this text

exit codes:
  0   drained after a signal; self-test passed
  1   failed: wrong version for the running upgrade, or a self-test that did not pass
  64  the command line is wrong
  70  a defect of the program
  75  something outside is not as needed: NATS not reached in its window, another agent runs, disk full
  78  the configuration is wrong; every error is named
`;

/**
 * Reads a command line.
 *
 * @param args Words after the program's name
 * @throws {FleetError} `E_USAGE`
 */
export function parseCommandLine(args: readonly string[]): Invocation {
  let values: { config?: string | undefined; "self-test"?: boolean; version?: boolean; help?: boolean };
  try {
    ({ values } = parseArgs({
      args: [...args],
      strict: true,
      allowPositionals: false,
      options: {
        config: { type: "string" },
        "self-test": { type: "boolean" },
        version: { type: "boolean" },
        help: { type: "boolean" },
      },
    }));
  } catch (error) {
    throw usageError("fleet-agent", error);
  }
  if (values.help === true) return { kind: "help" };
  if (values.version === true) return { kind: "version" };
  const configPath = values.config ?? DEFAULT_CONFIG_PATH;
  if (configPath === "") throw usageError("fleet-agent", "--config needs a file");
  return { kind: values["self-test"] === true ? "self-test" : "run", configPath };
}
