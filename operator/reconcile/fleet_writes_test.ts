import { assertEquals } from "@std/assert";
import type { Device } from "../../contracts/device_resource.ts";
import { ARTIFACT, digest, release } from "../../tests/fakes/operator_samples.ts";
import { ObservedWrites } from "./fleet_writes.ts";
import { OBSERVED, Observer } from "./observer.ts";

const CONTENT = {
  deviceId: "d1",
  targetVersion: "1.1.0",
  arch: "x86_64",
  artifact: { url: ARTIFACT.url, maxBytes: 1, sha256: ARTIFACT.sha256 },
  releaseIdentity: digest("1"),
} as const;

Deno.test("observed writes are told once for each thing that would be written", async () => {
  const told: string[] = [];
  const writes = new ObservedWrites(new Observer((line) => told.push(line)));
  for (let time = 0; time < 3; time++) assertEquals(await writes.writeAttempt(CONTENT, null), OBSERVED);
  await writes.writeAttempt({ ...CONTENT, targetVersion: "1.2.0" }, 7);
  await writes.createDevice("d2");
  await writes.createDevice("d2");
  assertEquals(told.map((line) => JSON.parse(line)), [
    { write: "writeAttempt", name: "d1", overRevision: null, attempt: CONTENT },
    { write: "writeAttempt", name: "d1", overRevision: 7, attempt: { ...CONTENT, targetVersion: "1.2.0" } },
    { write: "createDevice", name: "d2" },
  ]);
});

Deno.test("a status that differs only in when it was noticed is the same", async () => {
  const told: string[] = [];
  const writes = new ObservedWrites(new Observer((line) => told.push(line)));
  const { apiVersion, metadata } = release({ name: "d1" });
  const device: Device = { apiVersion, kind: "Device", metadata, spec: { groups: [] } };
  for (const livenessSince of ["2026-06-01T00:00:00.000Z", "2026-06-01T00:00:01.000Z"]) {
    const status = { liveness: "Online", livenessSince, quarantined: false, failedIdentities: [] } as const;
    await writes.writeDeviceStatus(device, { ...status, failedIdentities: [] });
  }
  assertEquals(told.length, 1);
});
