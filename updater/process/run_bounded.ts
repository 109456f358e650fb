/**
 * Runs a command to its end, bounded in time and output. Its whole process group is killed at a bound, and what is left
 * of it after its end.
 *
 * @module
 */
import { KILL_GRACE_MS, OUTPUT_GRACE_MS } from "../../contracts/limits.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { AgentCommand } from "./agent_command.ts";
import { sendSignal, signalGroup } from "./process_group.ts";
import { markedProcesses } from "./process_table.ts";

/** Bounds of a run. */
export interface RunBounds {
  readonly timeoutMs: number;
  /** Bytes of standard output and standard error together. */
  readonly maxOutputBytes: number;
  readonly clock: Clock;
  /** Ends the run. */
  readonly signal: AbortSignal;
  /** A variable of the command's environment that no other process has: what bears it is killed at the end. */
  readonly mark?: { readonly name: string; readonly value: string };
}

/** How a run ended, with what it printed until then. */
export interface RunOutcome {
  readonly end: "exit" | "signal" | "timeout" | "output" | "canceled";
  readonly exitCode?: number;
  readonly signal?: string;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly durationMs: number;
}

/** Collects the output of both streams, and asks for an end once it is too much. */
class Output {
  readonly #chunks: { readonly stdout: Uint8Array[]; readonly stderr: Uint8Array[] } = { stdout: [], stderr: [] };
  #sizeBytes = 0;

  constructor(readonly maxBytes: number, readonly onExcess: () => void) {}

  async collect(name: "stdout" | "stderr", stream: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<void> {
    const reader = stream.getReader();
    const cancel = () => void reader.cancel().catch(() => {});
    signal.addEventListener("abort", cancel, { once: true });
    try {
      for (;;) {
        const { value } = await reader.read();
        if (value === undefined) return;
        const room = this.maxBytes - this.#sizeBytes;
        if (room > 0) this.#chunks[name].push(value.slice(0, room));
        this.#sizeBytes += value.byteLength;
        if (this.#sizeBytes > this.maxBytes) this.onExcess();
      }
    } catch {
      // A pipe that breaks has ended.
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  async bytes(name: "stdout" | "stderr"): Promise<Uint8Array> {
    return new Uint8Array(await new Blob(this.#chunks[name] as Uint8Array<ArrayBuffer>[]).arrayBuffer());
  }
}

/** What ends a run from outside. The first one counts. */
class Limits {
  #reached: "timeout" | "output" | "canceled" | undefined;
  readonly #waiting = Promise.withResolvers<void>();

  get reached(): "timeout" | "output" | "canceled" | undefined {
    return this.#reached;
  }

  reach(limit: "timeout" | "output" | "canceled"): void {
    this.#reached ??= limit;
    this.#waiting.resolve();
  }

  /** Waits for the process's end or for a limit. */
  async watch(status: Promise<unknown>, { timeoutMs, clock, signal }: RunBounds): Promise<void> {
    const timing = new AbortController();
    const onAbort = () => this.reach("canceled");
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    clock.sleep(timeoutMs, timing.signal).then(() => this.reach("timeout"), () => {});
    await Promise.race([status, this.#waiting.promise]);
    timing.abort();
    signal.removeEventListener("abort", onAbort);
  }
}

function spawn({ program, args, environment, uid, gid }: AgentCommand) {
  return new Deno.Command(program, {
    args: [...args],
    env: { ...environment },
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    // A group of its own, so that what it starts can be killed with it.
    detached: true,
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  }).spawn();
}

/** Kills what is left of a run: its group, and what left the group but still bears the mark, if there is one. */
function killRest(groupId: number, mark: RunBounds["mark"]): void {
  signalGroup(groupId, "SIGKILL");
  if (mark === undefined) return;
  const { name, value } = mark;
  for (const { pid } of markedProcesses(name, value)) sendSignal(pid, "SIGKILL");
}

/**
 * Runs a command.
 *
 * @param command The command
 * @param bounds Time, output, signal
 * @throws what the runtime throws when the command cannot be started
 */
export async function runBounded(command: AgentCommand, bounds: RunBounds): Promise<RunOutcome> {
  const { clock, maxOutputBytes, mark } = bounds;
  const startMs = clock.monotonicMs();
  const child = spawn(command);
  let status: Deno.CommandStatus | undefined;
  const ended = child.status.then((known) => status = known);
  const limits = new Limits();
  const output = new Output(maxOutputBytes, () => limits.reach("output"));
  const reading = new AbortController();
  const outputs = Promise.all([
    output.collect("stdout", child.stdout, reading.signal),
    output.collect("stderr", child.stderr, reading.signal),
  ]);
  const grace = new AbortController();
  const pause = (ms: number) => clock.sleep(ms, grace.signal).catch(() => {});
  await limits.watch(ended, bounds);
  const durationMs = Math.round(clock.monotonicMs() - startMs);
  killRest(child.pid, mark);
  await Promise.race([ended, pause(KILL_GRACE_MS)]);
  await Promise.race([outputs, pause(OUTPUT_GRACE_MS)]);
  grace.abort();
  reading.abort();
  await outputs;
  return {
    ...endOf(limits.reached, status),
    stdout: await output.bytes("stdout"),
    stderr: await output.bytes("stderr"),
    durationMs,
  };
}

function endOf(
  reached: Limits["reached"],
  status: Deno.CommandStatus | undefined,
): Pick<RunOutcome, "end" | "exitCode" | "signal"> {
  if (reached !== undefined) return { end: reached };
  if (status === undefined) return { end: "timeout" };
  return status.signal === null ? { end: "exit", exitCode: status.code } : { end: "signal", signal: status.signal };
}
