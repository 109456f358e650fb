import { fileURLToPath } from "node:url";
import { assertLeavesNothing } from "../lab/leaves_nothing.ts";
import { vmProblem } from "./vm_machine.ts";

const PROGRAM = fileURLToPath(new URL("./fixtures/boot_machine.ts", import.meta.url));
const SYSTEM = "debian-12";
const problem = vmProblem(SYSTEM);

Deno.test({
  name: `a run of machines in a machine with ${SYSTEM}: one that is killed leaves no process` +
    (problem === undefined ? "" : ` (skipped: ${problem})`),
  ignore: problem !== undefined,
  fn: async () => void await assertLeavesNothing(PROGRAM, SYSTEM),
});
