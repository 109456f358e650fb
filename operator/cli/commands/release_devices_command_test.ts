import { assertEquals } from "@std/assert";
import type { Device, DeviceStatus } from "../../../contracts/device_resource.ts";
import { LIVENESS } from "../../../contracts/device_resource.ts";
import { API_VERSION } from "../../../contracts/resource.ts";
import { ago, sampleDeviceStatus } from "../../../tests/fakes/memory_fleet.ts";
import { DESIRED_REASONS } from "../../policy/attempt.ts";
import { ReleaseCounts } from "../../policy/release_counts.ts";
import { TARGET_STATES } from "../../policy/target_state.ts";
import { kebab } from "../devices/device_table.ts";
import { TARGET_PHASES } from "../invocation.ts";
import { devicesBehind } from "./release_devices_command.ts";

function device(name: string, status: DeviceStatus | undefined): Device {
  const metadata = {
    name,
    labels: { "device-id": name },
    uid: "3f1d7a52-1f0e-4c77-9f5e-6d6a4f0c9b11",
    resourceVersion: "1",
    generation: 1,
    creationTimestamp: ago(1_000),
  };
  return {
    apiVersion: API_VERSION,
    kind: "Device",
    metadata,
    spec: { groups: [] },
    ...(status === undefined ? {} : { status }),
  };
}

/** A small generator, so that a failure can be run again from its seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

Deno.test("the list behind a count has as many devices as the operator counts, whatever they are like", () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const next = random(seed);
  const counts = new ReleaseCounts();
  const devices = Array.from({ length: 500 }, (_, index) => {
    const reasons = [...DESIRED_REASONS, "AReasonOfTomorrow", undefined];
    const desiredReason = reasons[next(reasons.length)];
    const release = ["a", "b", undefined][next(3)];
    const status = next(20) === 0 ? undefined : sampleDeviceStatus({
      liveness: LIVENESS[next(LIVENESS.length)] ?? "Online",
      quarantined: next(10) === 0,
      ...(desiredReason === undefined ? {} : { desiredReason }),
      ...(release === undefined ? {} : { desiredRelease: release }),
    });
    counts.set(`d${index}`, status);
    return device(`d${index}`, status);
  });
  for (const release of ["a", "b", "c"]) {
    const expected = counts.countsOf(release);
    for (const phase of TARGET_PHASES) {
      const state = TARGET_STATES.find((candidate) => kebab(candidate) === phase);
      const count = state === undefined ? expected.targets : expected[state];
      assertEquals(devicesBehind(devices, release, phase, {}).length, count, `seed ${seed}, ${release}, ${phase}`);
    }
  }
});

Deno.test("every count has a list, and every list a count", () => {
  assertEquals([...TARGET_PHASES].sort(), ["targets", ...TARGET_STATES.map(kebab)].sort());
});
