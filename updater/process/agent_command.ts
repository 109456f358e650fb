/**
 * How an agent binary is started, for service and for its self-test alike: as its user, without extra groups, without a
 * way to new privileges, with an environment of its own (DESIGN 5, Probe).
 *
 * @module
 */

import { currentBootId } from "./process_table.ts";

/** The account that an agent binary runs under. */
export interface AgentUser {
  readonly uid: number;
  readonly gid: number;
  /** For `USER` and `LOGNAME`. */
  readonly name?: string;
  /** For `HOME`. */
  readonly home?: string;
}

/** What surrounds every start of an agent binary. */
export interface AgentSurroundings {
  /** Left out: the updater's own account, which is what a fleet without root has. */
  readonly user?: AgentUser;
  /** Variables beside the basic ones; they win over those. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A command, as the runtime starts it. */
export interface AgentCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
}

/** Of util-linux, which every Debian has: gives up the way to new privileges, then becomes the program (same pid). */
const SETPRIV_PATHS = ["/usr/bin/setpriv", "/bin/setpriv"];

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/**
 * Makes the command of an agent binary.
 *
 * @param path The binary
 * @param args Its arguments
 * @param surroundings User and environment
 * @param variables Variables of this one start; they win over all others
 */
export function agentCommand(
  path: string,
  args: readonly string[],
  { user, environment = {} }: AgentSurroundings,
  variables: Readonly<Record<string, string>>,
): AgentCommand {
  const setpriv = SETPRIV_PATHS.find(isFile);
  const words = setpriv === undefined ? [path, ...args] : [setpriv, "--no-new-privs", "--", path, ...args];
  const [program = path, ...rest] = words;
  const bootId = currentBootId();
  return {
    program,
    args: rest,
    environment: {
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      LANG: "C.UTF-8",
      // The runtime opens /proc only to a program with every permission, which an agent is not.
      ...(bootId === undefined ? {} : { FLEET_AGENT_BOOT_ID: bootId }),
      ...(user?.home === undefined ? {} : { HOME: user.home }),
      ...(user?.name === undefined ? {} : { USER: user.name, LOGNAME: user.name }),
      ...environment,
      ...variables,
    },
    ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
  };
}

/** A new invocation id, in systemd's form. */
export function newInvocationId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}
