import { assert, assertEquals } from "@std/assert";
import type { Device, DeviceStatus, DeviceUpgrade } from "../../../contracts/device_resource.ts";
import {
  CLOCK_SKEW_MAX_MS,
  CREDENTIALS_EXPIRY_WARNING_MS,
  INSTALL_RESERVE_BYTES,
  INTENT_PENDING_WARNING_MS,
} from "../../../contracts/limits.ts";
import { READINESS_STEPS } from "../../../contracts/readiness.ts";
import { API_VERSION } from "../../../contracts/resource.ts";
import { ago, FLEET_NOW_MS, sampleDeviceStatus, sampleHeartbeat } from "../../../tests/fakes/memory_fleet.ts";
import { DESIRED_REASONS } from "../../policy/attempt.ts";
import { deviceAdvice } from "./device_advice.ts";
import type { DeviceView } from "./device_view.ts";

function view(status: Partial<DeviceStatus> | null, changes: Partial<DeviceView> = {}): DeviceView {
  const device: Device = {
    apiVersion: API_VERSION,
    kind: "Device",
    metadata: {
      name: "d1",
      labels: { "device-id": "d1" },
      uid: "3f1d7a52-1f0e-4c77-9f5e-6d6a4f0c9b11",
      resourceVersion: "1",
      generation: 1,
      creationTimestamp: ago(1_000),
    },
    spec: { groups: ["edge"] },
    ...(status === null ? {} : { status: sampleDeviceStatus(status) }),
  };
  return {
    device,
    heartbeat: { kind: "absent" },
    upgradeStatus: { kind: "absent" },
    upgradeIntent: { kind: "absent" },
    deployments: { found: [] },
    nowMs: FLEET_NOW_MS,
    ...changes,
  };
}

function upgrade(changes: Partial<DeviceUpgrade> = {}): DeviceUpgrade {
  return {
    releaseName: "r",
    targetVersion: "1.1.0",
    phase: "failed",
    reason: "NeverReady",
    startedAt: ago(60_000),
    updatedAt: ago(30_000),
    ...changes,
  };
}

const codes = (...args: Parameters<typeof view>) => deviceAdvice(view(...args)).map(({ code }) => code);
const text = (...args: Parameters<typeof view>) => JSON.stringify(deviceAdvice(view(...args)));

Deno.test("deviceAdvice() is silent about a device that is well", () => {
  assertEquals(codes({ desiredReason: "UpToDate", desiredRelease: "r" }), []);
  assertEquals(codes({ desiredReason: "Upgrading", desiredRelease: "r", upgrade: upgrade({ phase: "starting" }) }), []);
});

Deno.test("deviceAdvice() knows a way out of every reason but those that are well", () => {
  const well = new Set(["UpToDate", "Upgrading", "Pending", "Quarantined"]);
  for (const desiredReason of DESIRED_REASONS) {
    const found = codes({ desiredReason, desiredRelease: "r", tiedReleases: ["a", "b"] });
    assertEquals(found, well.has(desiredReason) ? [] : [desiredReason], desiredReason);
  }
});

Deno.test("deviceAdvice() knows what to do about every step that a start can wait at", () => {
  for (const step of READINESS_STEPS) {
    const advice = deviceAdvice(view({ step, blocked: "it waits" }));
    if (step === "ready") assertEquals(advice.map(({ code }) => code), ["Blocked"]);
    else {
      assert(advice[0]?.problem.includes(`waits at step ${step}: it waits`), step);
      assert((advice[0]?.steps.length ?? 0) > 0, step);
    }
  }
  assertEquals(codes({ step: "updater", desiredReason: "UpdaterUnavailable" }), ["UpdaterUnavailable"]);
});

Deno.test("deviceAdvice() puts what needs a visit first", () => {
  const status = {
    quarantined: true,
    liveness: "Lost",
    desiredReason: "Quarantined",
    upgrade: upgrade({ phase: "rollback-failed" }),
  } as const;
  assertEquals(codes(status), ["Quarantined", "Lost"]);
  assert(text(status).includes("fleet-updater repair"));
});

Deno.test("deviceAdvice() sends a failure of each class to whoever can mend it", () => {
  const failed = (failureClass: DeviceUpgrade["failureClass"]) => ({
    desiredRelease: "r",
    desiredReason: "Failed",
    upgrade: upgrade(failureClass === undefined ? {} : { failureClass }),
  });
  assert(text(failed("version")).includes("fleetctl release pause r"));
  assert(text(failed("environment")).includes("fleetctl release retry r"));
  assert(text(failed("policy")).includes("fleetctl get release r -o yaml"));
  assert(text(failed("internal")).includes("journalctl -u fleet-updater"));
  assert(text(failed(undefined)).includes("journalctl -u fleet-updater"));
  assert(text({ desiredRelease: "r", desiredReason: "Failed" }).includes("has failed here before"));
  assertEquals(codes({ ...failed("version"), desiredReason: "RolledBack" }), ["RolledBack"]);
});

Deno.test("deviceAdvice() tells of silence with the exact age of the last heartbeat", () => {
  const heartbeat = { kind: "value", value: sampleHeartbeat("d1"), receivedAtMs: FLEET_NOW_MS - 200_000 } as const;
  assert(text({ liveness: "Stale" }, { heartbeat }).includes("last one 3m ago"));
  assert(
    text({ liveness: "Lost", upgrade: upgrade({ phase: "starting" }) }, { heartbeat }).includes(
      "(starting), last heartbeat 3m ago",
    ),
  );
  assert(text({ liveness: "Stale" }).includes("not since the broker started"));
});

Deno.test("deviceAdvice() reads the vitals at their limits", () => {
  const with_ = (vitals: Record<string, unknown>) => {
    const value = sampleHeartbeat("d1", { vitals: { freeBytes: {}, ...vitals } });
    return codes({}, { heartbeat: { kind: "value", value, receivedAtMs: FLEET_NOW_MS } });
  };
  assertEquals(with_({ clockSkewMs: CLOCK_SKEW_MAX_MS }), []);
  assertEquals(with_({ clockSkewMs: -CLOCK_SKEW_MAX_MS - 1 }), ["ClockWrong"]);
  assertEquals(with_({ freeBytes: { "/usr": INSTALL_RESERVE_BYTES, "/boot": 1 } }), []);
  assertEquals(with_({ freeBytes: { "/usr": INSTALL_RESERVE_BYTES - 1 } }), ["DiskFull"]);
  const at = (ms: number) => new Date(FLEET_NOW_MS + ms).toISOString();
  assertEquals(with_({ credentialsExpireAt: at(CREDENTIALS_EXPIRY_WARNING_MS) }), []);
  assertEquals(with_({ credentialsExpireAt: at(CREDENTIALS_EXPIRY_WARNING_MS - 1) }), ["CredentialsExpire"]);
});

Deno.test("deviceAdvice() worries about an attempt that an online device does not take", () => {
  const attempt = {
    schema: 1,
    attemptId: "00000000-0000-4000-8000-0000000000a1",
    deviceId: "d1",
    targetVersion: "1.1.0",
    arch: "x86_64",
    artifact: { url: "https://a.example/b", maxBytes: 1, sha256: "a".repeat(64) },
  } as const;
  const waits = (ageMs: number, changes: Partial<DeviceView> = {}) =>
    codes({ desiredReason: "Pending" }, {
      upgradeIntent: { kind: "value", value: attempt, receivedAtMs: FLEET_NOW_MS - ageMs },
      ...changes,
    });
  assertEquals(waits(INTENT_PENDING_WARNING_MS - 1), []);
  assertEquals(waits(INTENT_PENDING_WARNING_MS), ["Pending"]);
  const deferred = { attemptId: attempt.attemptId, reason: "ClockInsane", since: ago(1_000) };
  const value = sampleHeartbeat("d1", { deferred });
  assertEquals(waits(INTENT_PENDING_WARNING_MS, { heartbeat: { kind: "value", value, receivedAtMs: 0 } }), [
    "Deferred",
  ]);
});

Deno.test("deviceAdvice() tells a device that nobody has looked at", () => {
  assertEquals(codes(null), ["NoStatus"]);
});
