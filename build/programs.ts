/**
 * The programs that the build makes, with the permissions and the heap that each one is started with.
 *
 * @module
 */

/** A program as the build sees it. */
export interface Program {
  /** The file name of the finished program. */
  readonly name: string;
  /** The entry point, relative to the root of the repository, or absolute. */
  readonly entryPoint: string;
  /** Permission flags of `deno run`; nothing else is granted, and nothing is ever asked for. */
  readonly permissions: readonly string[];
  /** Flags for V8; an empty list leaves its defaults. */
  readonly v8Flags: readonly string[];
}

/** The names of the product's programs (DESIGN 2). */
export type ProgramName = "fleet-agent" | "fleet-updater" | "fleet-operator" | "fleetctl";

/*
 * The agent reads its configuration, secrets and state wherever `root` and they are, connects to any server and to Unix
 * sockets, and starts no program. Names of variables are listed, since the environment may hold secrets of others.
 */
const AGENT_PERMISSIONS = [
  "--allow-read",
  "--allow-write",
  "--allow-net",
  "--allow-env=NOTIFY_SOCKET,WATCHDOG_USEC,WATCHDOG_PID,FLEET_AGENT_STARTS,FLEET_AGENT_BOOT_ID",
  "--allow-sys=osRelease,statfs,uid",
];

/*
 * The updater starts programs as root, which no permission of the runtime limits, and tells a living agent from a later
 * process by /proc, which the runtime opens only to a program with every permission (docs/decisions/0014). Its limits are
 * those of its unit.
 */
const UPDATER_PERMISSIONS = ["--allow-all"];

/*
 * Measured under a NATS load: a young generation of 1 MiB saves 9 MiB of 67; a bounded old space halves the peak. Marking
 * in steps keeps all that is allocated meanwhile, and in a program that idles it takes very long: the updater grew by 45 MiB
 * within four upgrades after the tenth or so, and stayed there; marking at once it has 80 MiB resident after thirty.
 */
const DEVICE_HEAP = ["--max-semi-space-size=1", "--max-old-space-size=64", "--no-incremental-marking"];

/* The threads on which V8 compiles and collects in the background cost 4 of the 19 MiB that a large fetch takes. */
const UPDATER_HEAP = [...DEVICE_HEAP, "--single-threaded"];

/** Every program of the product. */
export const PROGRAMS: Readonly<Record<ProgramName, Program>> = {
  "fleet-agent": {
    name: "fleet-agent",
    entryPoint: "agent/main.ts",
    permissions: AGENT_PERMISSIONS,
    v8Flags: DEVICE_HEAP,
  },
  "fleet-updater": {
    name: "fleet-updater",
    entryPoint: "updater/main.ts",
    permissions: UPDATER_PERMISSIONS,
    v8Flags: UPDATER_HEAP,
  },
  "fleet-operator": {
    name: "fleet-operator",
    entryPoint: "operator/main.ts",
    permissions: ["--allow-read", "--allow-net"],
    v8Flags: ["--max-semi-space-size=4"],
  },
  "fleetctl": {
    name: "fleetctl",
    entryPoint: "operator/cli/main.ts",
    // The runtime shows NO_COLOR to everybody; the last two are asked for by the package for YAML.
    permissions: ["--allow-read", "--allow-net", "--allow-env=FLEETCTL_*,TERM,LOG_TOKENS,LOG_STREAM"],
    v8Flags: [],
  },
};

/** Whether a text names a program of the product. */
export function isProgramName(text: string): text is ProgramName {
  return Object.hasOwn(PROGRAMS, text);
}
