/**
 * What planning a run on the largest fleet costs: time, and memory over idle in the operator's heap.
 *
 * @module
 */
import { PROGRAMS } from "../build/programs.ts";
import { FLEET_SIZE_MAX } from "../contracts/limits.ts";
import { findNatsServer } from "../tests/nats/find_nats_server.ts";
import { writeNote } from "./round_note.ts";
import { runProgram } from "./run_program.ts";

const TIME_AIM_MS = 1_000;
const MEMORY_AIM_MIB = 64;
const TIME = "task-plan-100k";
const MEMORY = "task-plan-100k-memory-growth";
const READ_BACK = "task-plan-100k-read-back";

const whyAbsent = await findNatsServer().then(() => null, (error: Error) => error.message);
if (whyAbsent === null) {
  const output = await runProgram(Deno.execPath(), [
    "run",
    "--quiet",
    "--no-check",
    "--allow-all",
    `--v8-flags=${PROGRAMS["fleet-operator"].v8Flags.join(",")}`,
    new URL("task_plan_run.ts", import.meta.url).pathname,
    String(FLEET_SIZE_MAX),
  ]);
  const [planMs = NaN, growthMib = NaN, readBackMs = NaN] = output.trim().split(" ").map(Number);
  writeNote({ kind: "aim", figure: TIME, aim: { maxOurs: TIME_AIM_MS } });
  writeNote({ kind: "measure", figure: TIME, unit: "ms", ours: planMs, theirs: null });
  writeNote({ kind: "aim", figure: MEMORY, aim: { maxOurs: MEMORY_AIM_MIB } });
  writeNote({ kind: "measure", figure: MEMORY, unit: "MiB", ours: growthMib, theirs: null });
  writeNote({ kind: "measure", figure: READ_BACK, unit: "ms", ours: readBackMs, theirs: null });
} else {
  for (const figure of [TIME, MEMORY, READ_BACK]) writeNote({ kind: "skipped", figure, why: whyAbsent });
}
