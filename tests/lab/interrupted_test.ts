import { assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { labProblem } from "./lab_machine.ts";
import { assertLeavesNothing } from "./leaves_nothing.ts";

const PROGRAM = fileURLToPath(new URL("./fixtures/boot_device.ts", import.meta.url));
const SYSTEM = "debian-12";
const problem = labProblem(SYSTEM);

Deno.test({
  name: `a run of the lab on ${SYSTEM} that is killed leaves no process and no control group` +
    (problem === undefined ? "" : ` (skipped: ${problem})`),
  ignore: problem !== undefined,
  fn: async () => {
    const directory = await assertLeavesNothing(PROGRAM, SYSTEM);
    const name = directory.slice(directory.lastIndexOf("/") + 1);
    for (const hierarchy of ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd"]) {
      const group = await Deno.stat(`${hierarchy}/${name}`).catch(() => null);
      assertEquals(group, null);
    }
  },
});
