/**
 * The command line of the demo.
 *
 * @module
 */
import { parseArgs } from "node:util";

/** What `--help` prints. */
export const HELP_TEXT = `usage: ./dev demo [--keep] [--plain]

Shows a whole fleet on this machine, from nothing: a nats-server, an HTTPS host for artifacts, the operator, and five
devices, each with its updater and its agent. Everything is the real program; nothing is simulated, nothing needs root,
and nothing is left behind. It takes less than a minute.

What you will see:
  1. five devices appear, are put into a group, and upgrade to a new agent
  2. seven bad releases: each is refused or rolled back, and the agent that ran before runs on
  3. the updater is killed in the middle of a switch; it recovers, and the release is tried again
  4. one good release brings all five to one version
Then the figures: how long an upgrade takes, how long a device is without an agent, how long a rollback takes.

Options:
  --keep    leave the fleet running at the end, until Ctrl-C, and say how to drive it with fleetctl
  --plain   one line for each change instead of a live table; so it is without a terminal and with NO_COLOR
  --help    print this text

Exit codes:
  0    every step ended as it must
  1    a step did not: what was expected and what was found is printed, and the logs are kept
  64   the command line is wrong
  130  interrupted by Ctrl-C (143 by SIGTERM); everything is cleaned up

Lines that begin with $ are commands as you would type them. Words of this demo:
  release   names a version of the agent, its artifact with its SHA-256, and the devices that shall run it
  attempt   one try of one release on one device; a failed one is not repeated by itself
  READY     the agent says that it works: configuration, NATS, updater and desired state have been checked
`;

/** What a command line asks for. */
export type DemoInvocation =
  | { readonly kind: "help" }
  | { readonly kind: "usage"; readonly problem: string }
  | { readonly kind: "run"; readonly keep: boolean; readonly plain: boolean };

/**
 * Reads the command line.
 *
 * @param args Arguments after the program's name
 */
export function parseDemoArgs(args: readonly string[]): DemoInvocation {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        keep: { type: "boolean", default: false },
        plain: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    return values.help ? { kind: "help" } : { kind: "run", keep: values.keep, plain: values.plain };
  } catch (error) {
    if (error instanceof TypeError) return { kind: "usage", problem: error.message };
    throw error;
  }
}
