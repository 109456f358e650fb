/**
 * What one event costs the operator in a fleet of 100,000 devices, against the same event in a fleet of 1,000: promise 5
 * of DESIGN 1. And what the view of such a fleet costs in memory.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { FLEET_SIZE_MAX } from "../contracts/limits.ts";
import { compare } from "./comparison.ts";
import { OperatorFleet } from "./operator_fleet.ts";
import { writeNote } from "./round_note.ts";

const SMALL = 1_000;
const BASELINE = `${SMALL}-devices`;
const large = await OperatorFleet.of(FLEET_SIZE_MAX);
const small = await OperatorFleet.of(SMALL);
/** Events of one run: enough to be measured, and to visit many devices. */
const EVENTS = 1_000;

async function repeated(work: () => Promise<void> | void): Promise<void> {
  for (let event = 0; event < EVENTS; event++) await work();
}

/** The caches of the processor hold a small fleet and not a large one: that alone is worth the half. */
const AIM = { [BASELINE]: { maxRatio: 2 } };

compare({
  group: "operator-heartbeat",
  ours: { run: () => repeated(() => large.heartbeatEvent()) },
  theirs: { [BASELINE]: { run: () => repeated(() => small.heartbeatEvent()) } },
  aims: AIM,
  runs: 10,
});
compare({
  group: "operator-phase",
  ours: { run: () => repeated(() => large.phaseEvent()) },
  theirs: { [BASELINE]: { run: () => repeated(() => small.phaseEvent()) } },
  aims: AIM,
  runs: 10,
});
compare({
  group: "operator-idle-look",
  ours: { run: () => repeated(() => large.idleLook()) },
  theirs: { [BASELINE]: { run: () => repeated(() => small.idleLook()) } },
  aims: AIM,
  runs: 10,
});

const memory = await new Deno.Command(Deno.execPath(), {
  args: [
    "run",
    "--quiet",
    "--v8-flags=--expose-gc",
    fileURLToPath(new URL("./operator_memory.ts", import.meta.url)),
    String(FLEET_SIZE_MAX),
  ],
  stdout: "piped",
  stderr: "inherit",
}).output();
const heapMib = Number(new TextDecoder().decode(memory.stdout));
writeNote({ kind: "measure", figure: "operator-heap-100k", unit: "MiB", ours: heapMib, theirs: null });
writeNote({ kind: "aim", figure: "operator-heap-100k", aim: { maxOurs: 512 } });
