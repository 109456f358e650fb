import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { waitUntil } from "../nats/wait_until.ts";
import { labProblem } from "./lab_machine.ts";

const PROGRAM = fileURLToPath(new URL("./fixtures/boot_device.ts", import.meta.url));
const SYSTEM = "debian-12";
const problem = labProblem(SYSTEM);

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

Deno.test({
  name: `a run of the lab on ${SYSTEM} that is killed leaves no process and no control group` +
    (problem === undefined ? "" : ` (skipped: ${problem})`),
  ignore: problem !== undefined,
  fn: async () => {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--allow-all", "--no-check", PROGRAM, SYSTEM],
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const directory = (await reader.read()).value?.trim() ?? "";
    await reader.cancel();
    assertEquals(await processesOf(directory) > 0, true);
    child.kill("SIGKILL");
    await child.status;
    await waitUntil("every process of the device to end", async () => await processesOf(directory) === 0);
    const name = directory.slice(directory.lastIndexOf("/") + 1);
    for (const hierarchy of ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd"]) {
      const group = await Deno.stat(`${hierarchy}/${name}`).catch(() => null);
      assertEquals(group, null);
    }
    await Deno.remove(directory, { recursive: true });
  },
});
