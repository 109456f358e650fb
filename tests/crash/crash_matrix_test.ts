import { report } from "../fakes/report.ts";
import { assert, assertEquals } from "@std/assert";
import { countingGate, killingGate, type KillPoint } from "./killing_gate.ts";
import { assertLegalEnd } from "./legal_end.ts";
import { SCENARIOS } from "./scenarios.ts";
import { live, newDevice, type Scenario, type SimulatedDevice } from "./simulated_device.ts";

/** Lives in a row that are killed at the same point, for "for ever": no life is told how many there will be. */
const LIVES_KILLED = 5;

async function pointsOf(scenario: Scenario): Promise<KillPoint[]> {
  const device = await newDevice(scenario);
  const { gate, points } = countingGate();
  assertEquals((await live({ ...device, scenario, send: true, gate })).kind, "idle");
  assertEquals(
    await assertLegalEnd(`${scenario.name}, not interrupted`, device.disk, device.process, scenario),
    scenario.ends,
  );
  return points;
}

/** Kills the first life at a point, the next ones at their own n-th point, then lets one live. */
async function killAt(scenario: Scenario, point: KillPoint, times: number): Promise<void> {
  const what = `${scenario.name}, killed ${times} times at ${point.index} (${point.name})`;
  const device = await newDevice(scenario);
  for (let life = 0; life < times; life++) {
    const { gate, killed } = killingGate(point.index);
    const end = await live({ ...device, scenario, send: life === 0, gate }, killed);
    // A later life may have fewer points than the first one: then it has already come to rest.
    if (end.kind !== "killed") {
      assertEquals(end.kind, "idle", what);
      break;
    }
  }
  const last = await live({ ...device, scenario, send: false });
  assertEquals(last.kind, "idle", `${what}: ${JSON.stringify(last)}`);
  const phase = await assertLegalEnd(what, device.disk, device.process, scenario);
  const candidateStarts = device.process.starts.get("2.0.0") ?? 0;
  assert(candidateStarts <= 1, `${what}: the candidate was started ${candidateStarts} times`);
  await assertNextAttemptWorks(what, device, phase);
}

/** Whatever was interrupted, the next attempt of a device that is not quarantined works. */
async function assertNextAttemptWorks(what: string, device: SimulatedDevice, phase: string): Promise<void> {
  if (phase === "rollback-failed" || phase === "complete") return;
  device.process.outageStarts = 0;
  device.process.refusedStops = 0;
  const scenario: Scenario = { name: "the next attempt", candidate: "ready", ends: "complete", next: true };
  const end = await live({ ...device, scenario, send: true });
  assertEquals(end.kind, "idle", what);
  assertEquals(await assertLegalEnd(`${what}, next attempt`, device.disk, device.process, scenario), "complete");
}

for (const scenario of SCENARIOS) {
  Deno.test(`killed before and after every effect and file operation: ${scenario.name}`, async () => {
    const points = await pointsOf(scenario);
    for (const point of points) {
      await killAt(scenario, point, 1);
      await killAt(scenario, point, LIVES_KILLED);
    }
    report(`crash matrix: ${scenario.name}: ${points.length} points, each killed once and ${LIVES_KILLED} times`);
  });
}
