import { assert, assertEquals } from "@std/assert";
import { processInfo } from "../../../updater/process/process_table.ts";
import { spawnAgent } from "../../../updater/services/agent_process.ts";

/** Enough that some are released between their end and their exit event; before it was caught, one in twenty was. */
const PROCESSES = 300;

Deno.test("a process can be released at any moment around its end", async () => {
  for (let started = 0; started < PROCESSES; started++) {
    const process = await spawnAgent({ program: "/bin/true", args: [], environment: {} }, null);
    let exited = false;
    const exit = process.exited.then((found) => {
      exited = true;
      return found;
    });
    while (!exited) {
      const info = processInfo(process.pid);
      if (info === null || info.ended) process.release();
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
    process.release();
    assertEquals(await exit, { exitCode: 0 });
    assert(processInfo(process.pid)?.startTicks !== process.startTicks);
  }
});
