/**
 * The processes that run the programs of one demo: what is left when everything has been asked to end is killed, so
 * that nothing stays behind. Agents and probes have process groups of their own, and outlive whoever started them.
 *
 * @module
 */
import { waitUntil } from "../../tests/nats/wait_until.ts";

/**
 * Whether a process runs a program of a demo. What merely looks at its files (`tail -f`, an editor) does not.
 *
 * @param args Its command line
 * @param directory Directory of the demo
 */
export function runsProgramOf(args: readonly string[], directory: string): boolean {
  const program = args[0]?.slice(args[0].lastIndexOf("/") + 1);
  if (program === "nats-server") return args.includes(`${directory}/nats/server.conf`);
  if (program !== "deno") return false;
  return args.some((arg) =>
    arg === `${directory}/fleet-operator` || arg === `${directory}/fleet-updater` ||
    (arg.startsWith(`${directory}/d`) && /\/(?:usr\/lib\/harmony-fleet|usr\/local\/bin)\/[^/]*fleet-agent/.test(arg))
  );
}

/**
 * Process ids of the programs of a demo.
 *
 * @param directory Its directory
 */
export async function ownProcesses(directory: string): Promise<number[]> {
  const found: number[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^[0-9]+$/.test(name)) continue;
    let text: string;
    try {
      text = await Deno.readTextFile(`/proc/${name}/cmdline`);
    } catch {
      // It has ended meanwhile.
      continue;
    }
    if (runsProgramOf(text.split("\0"), directory)) found.push(Number(name));
  }
  return found;
}

/**
 * Kills what is left of a demo, and waits until it is gone.
 *
 * @param directory Its directory
 * @returns how many processes were left
 */
export async function killOwnProcesses(directory: string): Promise<number> {
  const killed = new Set<number>();
  await waitUntil("the last processes to end", async () => {
    const left = await ownProcesses(directory);
    for (const pid of left) {
      killed.add(pid);
      try {
        Deno.kill(pid, "SIGKILL");
      } catch (error) {
        // It has ended meanwhile.
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    }
    return left.length === 0;
  });
  return killed.size;
}
