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
 * Both daemons of a device read /proc (boot id; start time of a process), and the runtime opens /proc only to a program
 * that holds every permission. Their limits are those of the user and of the unit that they run under.
 */
const DEVICE_PERMISSIONS = ["--allow-all"];

/* Measured under a NATS load: a young generation of 1 MiB saves 9 MiB of 67; a bounded old space halves the peak. */
const DEVICE_HEAP = ["--max-semi-space-size=1", "--max-old-space-size=64"];

/** Every program of the product. */
export const PROGRAMS: Readonly<Record<ProgramName, Program>> = {
  "fleet-agent": {
    name: "fleet-agent",
    entryPoint: "agent/main.ts",
    permissions: DEVICE_PERMISSIONS,
    v8Flags: DEVICE_HEAP,
  },
  "fleet-updater": {
    name: "fleet-updater",
    entryPoint: "updater/main.ts",
    permissions: DEVICE_PERMISSIONS,
    v8Flags: DEVICE_HEAP,
  },
  "fleet-operator": {
    name: "fleet-operator",
    entryPoint: "operator/main.ts",
    permissions: ["--allow-read", "--allow-write", "--allow-net", "--allow-env", "--allow-sys"],
    v8Flags: ["--max-semi-space-size=4"],
  },
  "fleetctl": {
    name: "fleetctl",
    entryPoint: "operator/cli/main.ts",
    permissions: ["--allow-read", "--allow-net", "--allow-env", "--allow-sys"],
    v8Flags: [],
  },
};

/** Whether a text names a program of the product. */
export function isProgramName(text: string): text is ProgramName {
  return Object.hasOwn(PROGRAMS, text);
}
