import { assert, assertEquals } from "@std/assert";
import {
  BUCKET_SPECS,
  bucketMaxBytes,
  BUCKETS,
  desiredEntryKey,
  desiredStateFilter,
  deviceKey,
  generationKey,
  planChunkKey,
  runFilter,
  runKey,
  splitSystemUpgradeKey,
  systemUpgradeFilter,
  systemUpgradeKey,
} from "./buckets.ts";
import { BUCKET_HEADERS_MAX_BYTES, FLEET_SIZE_MAX, STATUS_MAX_BYTES, TASK_DEADLINE_MAX_S } from "./limits.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("buckets: each has a spec, a name that a stream can have, and a bound", () => {
  assertEquals(BUCKET_SPECS.map(({ name }) => name).sort(), Object.values(BUCKETS).sort());
  for (const { name, storage, maxValueBytes, bytesPerDevice, baseBytes } of BUCKET_SPECS) {
    assert(/^[a-z]+(?:-[a-z]+)*$/.test(name), name);
    assertEquals(storage, name === BUCKETS.deviceHeartbeat ? "memory" : "file", name);
    // The base alone takes many of the largest values, so that one busy device does not fill a small fleet's bucket.
    assert(baseBytes >= 32 * maxValueBytes, name);
    assert(Number.isSafeInteger(bytesPerDevice), name);
  }
});

pure("buckets: a document at its limit is taken together with the headers of its write", () => {
  const status = BUCKET_SPECS.find(({ name }) => name === BUCKETS.upgradeStatus);
  assertEquals(status?.maxValueBytes, STATUS_MAX_BYTES + BUCKET_HEADERS_MAX_BYTES);
});

pure("bucketMaxBytes() grows with the fleet by the device's share", () => {
  for (const spec of BUCKET_SPECS) {
    assertEquals(bucketMaxBytes(spec, 0), spec.baseBytes);
    assertEquals(bucketMaxBytes(spec, 11) - bucketMaxBytes(spec, 10), spec.bytesPerDevice);
    assert(Number.isSafeInteger(bucketMaxBytes(spec, FLEET_SIZE_MAX)));
  }
});

pure("keys begin with the device's id as a whole token", () => {
  const deployment = "5b0f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d";
  assertEquals(deviceKey("device-1"), "device-1");
  assertEquals(generationKey("device-1"), "device-1._generation");
  assertEquals(desiredEntryKey("device-1", deployment), `device-1.${deployment}`);
  assertEquals(desiredStateFilter("device-1"), "device-1.>");
});

pure("keys of system upgrades: device and run are one token each, and found again", () => {
  const run = "7d2f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d";
  assertEquals(systemUpgradeKey("device-1", run), `device-1.${run}`);
  assertEquals(systemUpgradeFilter("device-1"), "device-1.*");
  assertEquals(runFilter(run), `*.${run}`);
  assertEquals(splitSystemUpgradeKey(`device-1.${run}`), { deviceId: "device-1", runId: run });
  for (const key of ["device-1", "device-1.", `.${run}`, `a.${run}.b`, ""]) {
    assertEquals(splitSystemUpgradeKey(key), null, key);
  }
  assertEquals([runKey(run), planChunkKey(run, "nonce", 7)], [run, `${run}.nonce.7`]);
});

pure("ages: what a run needs is kept for longer than it may last, and only that has an age", () => {
  const aged = BUCKET_SPECS.filter(({ maxAgeS }) => maxAgeS !== undefined);
  assertEquals(aged.map(({ name }) => name), [
    BUCKETS.systemUpgradeIntent,
    BUCKETS.systemUpgradeStatus,
    BUCKETS.taskPlan,
    BUCKETS.taskHistory,
  ]);
  for (const { name, maxAgeS = 0 } of aged) assert(maxAgeS > TASK_DEADLINE_MAX_S, name);
});
