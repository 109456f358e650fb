import { assertEquals } from "@std/assert";
import { decodeBytes } from "../../contracts/codec.ts";
import { type DeviceStatus, deviceStatus } from "../../contracts/device_resource.ts";
import { FAILED_IDENTITIES_MAX } from "../../contracts/limits.ts";
import {
  type DeviceStatusFacts,
  nextDeviceStatus,
  nextFailedIdentities,
  nextQuarantined,
  type UpgradeReport,
} from "./device_status.ts";
import { digest } from "../../tests/fakes/operator_samples.ts";

const NOW = Date.UTC(2026, 5, 1);
const A1 = "00000000-0000-4000-8000-000000000001";
const A2 = "00000000-0000-4000-8000-000000000002";

const UPGRADE: UpgradeReport = {
  attemptId: A1,
  releaseIdentity: digest("1"),
  targetVersion: "1.1.0",
  phase: "preparing",
  startedAtMs: NOW - 500,
  receivedAtMs: NOW - 400,
};

function facts(changes: Partial<DeviceStatusFacts> = {}): DeviceStatusFacts {
  return {
    nowMs: NOW,
    generation: 1,
    info: {
      agentVersion: "1.0.0",
      form: "script",
      arch: "x86_64",
      os: { name: "Debian", version: "12", kernel: "6.1.0" },
      updater: { version: "1.0.0", capabilities: ["https"] },
      step: "ready",
    },
    liveness: { liveness: "Online", sinceMs: NOW - 1_000, recheckAtMs: null },
    upgrade: UPGRADE,
    desired: { reason: "Upgrading", releaseName: "stable", releaseIdentity: digest("1") },
    conditions: [],
    ...changes,
  };
}

Deno.test("a status says who the device is, whether it lives, and what it does", () => {
  const status = nextDeviceStatus(undefined, facts());
  assertEquals(status, {
    agentVersion: "1.0.0",
    form: "script",
    arch: "x86_64",
    os: { name: "Debian", version: "12", kernel: "6.1.0" },
    updaterVersion: "1.0.0",
    capabilities: ["https"],
    liveness: "Online",
    livenessSince: "2026-05-31T23:59:59.000Z",
    upgrade: {
      attemptId: A1,
      releaseName: "stable",
      releaseIdentity: digest("1"),
      targetVersion: "1.1.0",
      phase: "preparing",
      startedAt: "2026-05-31T23:59:59.500Z",
      updatedAt: "2026-05-31T23:59:59.600Z",
    },
    quarantined: false,
    desiredRelease: "stable",
    desiredReason: "Upgrading",
    failedIdentities: [],
    observedGeneration: 1,
  });
  assertEquals(decodeBytes(deviceStatus, new TextEncoder().encode(JSON.stringify(status)), 10_000), status);
});

Deno.test("the same facts at another time make the same status", () => {
  const conditions = [{ type: "Conflict", status: "True", reason: "PriorityTie", message: "a and b" } as const];
  const first = nextDeviceStatus(undefined, facts({ conditions }));
  assertEquals(nextDeviceStatus(first, facts({ conditions, nowMs: NOW + 60_000 })), first);
});

Deno.test("a status that was only published again changes nothing", () => {
  const first = nextDeviceStatus(undefined, facts());
  const again = { ...UPGRADE, receivedAtMs: NOW + 5_000 };
  assertEquals(nextDeviceStatus(first, facts({ upgrade: again })), first);
  const moved = nextDeviceStatus(first, facts({ upgrade: { ...again, phase: "stopping" } }));
  assertEquals(moved.upgrade?.updatedAt, "2026-06-01T00:00:05.000Z");
  assertEquals(moved.upgrade?.startedAt, first.upgrade?.startedAt);
});

Deno.test("a device clock that runs ahead does not put the start after its receipt", () => {
  const status = nextDeviceStatus(undefined, facts({ upgrade: { ...UPGRADE, startedAtMs: NOW + 9_000_000 } }));
  assertEquals(status.upgrade?.startedAt, status.upgrade?.updatedAt);
});

Deno.test("an upgrade keeps the name of its release when another one decides", () => {
  const first = nextDeviceStatus(undefined, facts());
  const desired = { reason: "Pending", releaseName: "next", releaseIdentity: digest("2") } as const;
  assertEquals(nextDeviceStatus(first, facts({ desired })).upgrade?.releaseName, "stable");
  const newer = { ...UPGRADE, attemptId: A2 };
  assertEquals(nextDeviceStatus(first, facts({ desired, upgrade: newer })).upgrade?.releaseName, undefined);
});

Deno.test("what cannot be read or planned now stays as it was", () => {
  const first = nextDeviceStatus(undefined, facts());
  const unknown = facts({ info: null, upgrade: null, desired: null });
  assertEquals(nextDeviceStatus(first, unknown), first);
  const empty = nextDeviceStatus(undefined, unknown);
  assertEquals(empty.agentVersion, undefined);
  assertEquals(empty.desiredReason, undefined);
});

Deno.test("a start that waits shows its step and what blocks it; after READY a heartbeat says what blocks", () => {
  const { info } = facts();
  if (info === null) throw new Error("the sample has a device info");
  const starting = nextDeviceStatus(undefined, facts({ info: { ...info, step: "updater", blocked: "no socket" } }));
  assertEquals([starting.step, starting.blocked], ["updater", "no socket"]);
  const running = nextDeviceStatus(starting, facts({ blocked: "podman is away" }));
  assertEquals([running.step, running.blocked], [undefined, "podman is away"]);
  assertEquals(nextDeviceStatus(running, facts()).blocked, undefined);
});

Deno.test("quarantine is set by rollback-failed and lifted by any other report", () => {
  const quarantined = { quarantined: true };
  assertEquals(nextQuarantined(undefined, { phase: "rollback-failed" }), true);
  assertEquals(nextQuarantined(quarantined, null), true);
  for (const phase of ["failed", "complete", "preparing"] as const) {
    assertEquals(nextQuarantined(quarantined, { phase }), false);
  }
  assertEquals(nextQuarantined(undefined, null), false);
});

Deno.test("a failed identity is remembered once, and forgotten when it completes", () => {
  const [one, two] = [digest("1"), digest("2")];
  assertEquals(nextFailedIdentities([two], { phase: "failed", releaseIdentity: one }), [two, one]);
  assertEquals(nextFailedIdentities([one, two], { phase: "failed", releaseIdentity: one }), [one, two]);
  assertEquals(nextFailedIdentities([], { phase: "rollback-failed", releaseIdentity: one }), [one]);
  assertEquals(nextFailedIdentities([one, two], { phase: "complete", releaseIdentity: one }), [two]);
  assertEquals(nextFailedIdentities([two], { phase: "failed" }), [two]);
  assertEquals(nextFailedIdentities([two], { phase: "rolling-back", releaseIdentity: one }), [two]);
  assertEquals(nextFailedIdentities([two], null), [two]);
});

for (const count of [FAILED_IDENTITIES_MAX - 1, FAILED_IDENTITIES_MAX, FAILED_IDENTITIES_MAX + 1]) {
  Deno.test(`of ${count} failed identities the last ${FAILED_IDENTITIES_MAX} are kept`, () => {
    const all = Array.from({ length: count }, (_, index) => index.toString(16).repeat(64).slice(0, 64));
    let kept: string[] = [];
    for (const releaseIdentity of all) kept = nextFailedIdentities(kept, { phase: "failed", releaseIdentity });
    assertEquals(kept, all.slice(-FAILED_IDENTITIES_MAX));
  });
}

Deno.test("a condition keeps its time while its status stays, whatever its message", () => {
  const stated = (status: "True" | "False", message: string) => [{ type: "A", status, reason: "R", message }];
  const time = (status: DeviceStatus) => status.conditions?.[0]?.lastTransitionTime;
  const first = nextDeviceStatus(undefined, facts({ conditions: stated("True", "x") }));
  const second = nextDeviceStatus(first, facts({ conditions: stated("True", "y"), nowMs: NOW + 1_000 }));
  assertEquals([second.conditions?.[0]?.message, time(second)], ["y", time(first)]);
  const third = nextDeviceStatus(second, facts({ conditions: stated("False", "y"), nowMs: NOW + 1_000 }));
  assertEquals(time(third), "2026-06-01T00:00:01.000Z");
  assertEquals(nextDeviceStatus(third, facts()).conditions, undefined);
});
