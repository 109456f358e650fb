/**
 * What must be true when a run of devices is killed.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { waitUntil } from "../nats/wait_until.ts";
import type { LabSystem } from "./lab_image.ts";

/** Processes whose command line names a folder. */
async function processesOf(directory: string): Promise<number> {
  let count = 0;
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^[0-9]+$/.test(name)) continue;
    const command = await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "");
    if (command.includes(directory)) count++;
  }
  return count;
}

/**
 * Starts a program that boots a device and prints the device's folder, kills it, and waits until nothing of the device
 * runs any more.
 *
 * @param program The program
 * @param system Of the device
 * @returns the folder, which it has removed
 */
export async function assertLeavesNothing(program: string, system: LabSystem): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-all", "--no-check", program, system],
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const directory = (await reader.read()).value?.trim() ?? "";
  await reader.cancel();
  assertEquals(await processesOf(directory) > 0, true);
  child.kill("SIGKILL");
  await child.status;
  await waitUntil("every process of the device to end", async () => await processesOf(directory) === 0);
  await Deno.remove(directory, { recursive: true });
  return directory;
}
