/**
 * One process of the agent: a child, or one that an earlier updater started.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { ADOPTED_POLL_MS } from "../../contracts/limits.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { AgentCommand } from "../process/agent_command.ts";
import { processInfo } from "../process/process_table.ts";

/** How a process ended. Neither is known of an adopted one. */
export interface ProcessExit {
  readonly exitCode?: number;
  readonly signal?: string;
}

/** One process of the agent, which leads its own process group. */
export interface AgentProcess {
  readonly pid: number;
  readonly startTicks: number;
  /** Resolves at its end. */
  readonly exited: Promise<ProcessExit>;
  /** Stops watching it; it lives on. */
  release(): void;
}

/** A process that could not be started. */
export class SpawnError extends Error {
  override readonly name = "SpawnError";

  /** @param resources Whether the machine lacks resources, which says nothing about the program */
  constructor(message: string, readonly resources: boolean) {
    super(message);
  }
}

/** Errno names of a machine that lacks resources. */
const RESOURCES = new Set(["EAGAIN", "ENOMEM", "EMFILE", "ENFILE"]);

function spawnError(program: string, error: unknown): SpawnError {
  const code = error instanceof Error && "code" in error ? String(error.code) : "an unknown error";
  return new SpawnError(`${program} cannot be started: ${code}`, RESOURCES.has(code));
}

/**
 * Starts a process in a session and process group of its own, so that it survives this one and can be killed with all
 * that it starts.
 *
 * @param command What is run
 * @param output Descriptor for both outputs; null drops them
 * @throws {SpawnError} when it cannot be started
 */
export function spawnAgent(command: AgentCommand, output: number | null): Promise<AgentProcess> {
  const { program, args, environment, uid, gid } = command;
  const sink = output ?? "ignore";
  return new Promise((resolve, reject) => {
    let child: ReturnType<typeof spawn>;
    try {
      child = spawn(program, [...args], {
        stdio: ["ignore", sink, sink],
        detached: true,
        env: { ...environment },
        cwd: "/",
        ...(uid === undefined ? {} : { uid }),
        ...(gid === undefined ? {} : { gid }),
      });
    } catch (error) {
      return reject(spawnError(program, error));
    }
    child.on("error", (error) => reject(spawnError(program, error)));
    const exited = new Promise<ProcessExit>((ended) => {
      child.on("exit", (code, signal) => ended(signal === null ? { exitCode: code ?? 0 } : { signal }));
    });
    const { pid } = child;
    // Without a pid the error event follows.
    if (pid === undefined) return;
    resolve({ pid, startTicks: processInfo(pid)?.startTicks ?? 0, exited, release: () => release(child) });
  });
}

function release(child: { unref(): void }): void {
  try {
    child.unref();
  } catch (error) {
    // It has ended and its exit event is still to come: in between the runtime refuses to let go of it.
    if (!(error instanceof Deno.errors.BadResource)) throw error;
  }
}

/** Whether the very process still lives. */
function lives({ pid, startTicks }: Pick<AgentProcess, "pid" | "startTicks">): boolean {
  const info = processInfo(pid);
  return info !== null && !info.ended && info.startTicks === startTicks;
}

/**
 * Takes over a process that this updater did not start.
 *
 * @param identity Its pid and start
 * @param clock For the looks whether it lives
 * @returns null when it lives no more
 */
export function adoptAgent(identity: Pick<AgentProcess, "pid" | "startTicks">, clock: Clock): AgentProcess | null {
  if (!lives(identity)) return null;
  const { pid, startTicks } = identity;
  const watching = new AbortController();
  const exited = (async () => {
    while (lives(identity)) await clock.sleep(ADOPTED_POLL_MS, watching.signal);
    return {};
  })();
  // Released: nobody asks any more.
  exited.catch(() => {});
  return { pid, startTicks, exited, release: () => watching.abort() };
}
