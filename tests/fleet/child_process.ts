/**
 * A program that a fleet runs, as a real process whose output goes to a file.
 *
 * @module
 */
import { waitUntil } from "../nats/wait_until.ts";

/** What to run. */
export interface ChildOptions {
  readonly command: readonly string[];
  /** Where standard output and error are appended. */
  readonly logFile: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A running program. */
export interface Child {
  readonly pid: number;
  /** Resolves with how it ended; never rejects. */
  readonly ended: Promise<Deno.CommandStatus>;
  readonly hasEnded: boolean;
  /** Sends a signal; nothing happens when it has ended. */
  kill(signal: Deno.Signal): void;
  /** SIGTERM, then waits for its end; SIGKILL when that takes too long. */
  stop(timeoutMs?: number): Promise<Deno.CommandStatus>;
}

/** The output file is opened by a shell that becomes the program, so that no pipe ties its life to ours. */
const REDIRECT = 'log=$1; shift; exec "$@" >>"$log" 2>&1';

/**
 * Starts a program.
 *
 * @param options Command, output, environment
 */
export function startChild({ command, logFile, env = {} }: ChildOptions): Child {
  const child = new Deno.Command("/bin/sh", {
    args: ["-c", REDIRECT, "sh", logFile, ...command],
    env: { ...env },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let over = false;
  const ended = child.status.then((status) => {
    over = true;
    return status;
  });
  const kill = (signal: Deno.Signal): void => {
    try {
      if (!over) child.kill(signal);
    } catch (error) {
      // It ended between the look and the signal.
      if (!(error instanceof TypeError) && !(error instanceof Deno.errors.NotFound)) throw error;
    }
  };
  return {
    pid: child.pid,
    ended,
    get hasEnded() {
      return over;
    },
    kill,
    async stop(timeoutMs = 15_000) {
      kill("SIGTERM");
      try {
        await waitUntil("a process to end after SIGTERM", () => over, timeoutMs);
      } catch {
        kill("SIGKILL");
      }
      return await ended;
    },
  };
}
