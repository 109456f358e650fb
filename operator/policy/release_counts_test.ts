import { assertEquals } from "@std/assert";
import type { DeviceStatus } from "../../contracts/device_resource.ts";
import type { DesiredReason } from "./attempt.ts";
import { ReleaseCounts } from "./release_counts.ts";
import { TARGET_STATES, type TargetState, targetState } from "./target_state.ts";

function status(reason: DesiredReason, changes: Partial<DeviceStatus> = {}): DeviceStatus {
  return {
    liveness: "Online",
    livenessSince: "2026-06-01T00:00:00.000Z",
    quarantined: false,
    desiredRelease: "r",
    desiredReason: reason,
    failedIdentities: [],
    ...changes,
  };
}

function failing(error: string, updatedAt: string): DeviceStatus {
  const upgrade = { phase: "failed", error, startedAt: updatedAt, updatedAt } as const;
  return status("Failed", { upgrade });
}

const AT = (second: number) => new Date(Date.UTC(2026, 5, 1, 0, 0, second)).toISOString();

Deno.test("a target is in exactly one state", () => {
  const cases: [DeviceStatus, TargetState | undefined][] = [
    [status("UpToDate"), "current"],
    [status("Upgrading"), "upgrading"],
    [status("Upgrading", { liveness: "Lost" }), "lost"],
    [status("Upgrading", { liveness: "Stale" }), "upgrading"],
    [status("Quarantined", { quarantined: true, liveness: "Lost" }), "quarantined"],
    [status("RolledBack"), "rolledBack"],
    [status("NoArtifact"), "ineligible"],
    [status("SourceForm"), "ineligible"],
    [status("Paused"), "pending"],
    [status("Pending", { desiredReason: "OfANewerVersion" }), "pending"],
  ];
  for (const [device, expected] of cases) assertEquals(targetState(device), expected);
  const { desiredRelease: _release, ...undecided } = status("NoRelease");
  assertEquals(targetState(undecided), undefined);
});

Deno.test("counts follow each device, and only changes are told", () => {
  const counts = new ReleaseCounts();
  assertEquals(counts.set("d1", status("Pending")), ["r"]);
  assertEquals(counts.set("d2", status("UpToDate")), ["r"]);
  assertEquals(counts.set("d1", status("Pending", { livenessSince: AT(9) })), []);
  assertEquals(counts.set("d1", status("UpToDate", { desiredRelease: "s" })), ["r", "s"]);
  assertEquals([counts.countsOf("r").targets, counts.countsOf("r").current], [1, 1]);
  assertEquals([counts.countsOf("s").targets, counts.countsOf("s").current], [1, 1]);
  assertEquals(counts.set("d1", undefined), ["s"]);
  assertEquals(counts.set("d1", undefined), []);
  assertEquals(counts.countsOf("s").targets, 0);
});

Deno.test("ties are counted for every release that is named", () => {
  const counts = new ReleaseCounts();
  const { desiredRelease: _release, ...undecided } = status("Conflict", { tiedReleases: ["a", "b"] });
  assertEquals(counts.set("d1", undecided), ["a", "b"]);
  assertEquals(counts.set("d2", undecided), ["a", "b"]);
  assertEquals([counts.tiesOf("a"), counts.tiesOf("b"), counts.countsOf("a").targets], [2, 2, 0]);
  counts.set("d1", status("UpToDate"));
  assertEquals(counts.tiesOf("a"), 1);
});

Deno.test("the latest error is the newest among those that still have one", () => {
  const counts = new ReleaseCounts();
  counts.set("d1", failing("one", AT(1)));
  counts.set("d3", failing("three", AT(3)));
  counts.set("d2", failing("two", AT(2)));
  assertEquals(counts.latestErrorOf("r"), { deviceId: "d3", error: "three", at: AT(3) });
  counts.set("d3", status("UpToDate"));
  assertEquals(counts.latestErrorOf("r")?.deviceId, "d2");
  counts.set("d2", failing("two again", AT(2)));
  assertEquals(counts.latestErrorOf("r")?.error, "two again");
  counts.set("d1", undefined);
  counts.set("d2", undefined);
  assertEquals(counts.latestErrorOf("r"), null);
});

Deno.test("the same devices in any order give the same figures", () => {
  const seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 1;
  let state = seed;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
  const reasons: DesiredReason[] = ["UpToDate", "Pending", "Upgrading", "Failed", "RolledBack", "NoArtifact"];
  const counts = new ReleaseCounts();
  const last = new Map<string, DeviceStatus>();
  for (let step = 0; step < 5_000; step++) {
    const id = `d${random(50)}`;
    const reason = reasons[random(reasons.length)] ?? "UpToDate";
    const desiredRelease = `r${random(3)}`;
    const next = reason === "Failed"
      ? { ...failing(`e${random(5)}`, AT(random(20))), desiredRelease }
      : status(reason, { desiredRelease });
    if (random(10) === 0) {
      counts.set(id, undefined);
      last.delete(id);
    } else {
      counts.set(id, next);
      last.set(id, next);
    }
    if (random(7) === 0) counts.latestErrorOf("r0");
  }
  const fresh = new ReleaseCounts();
  for (const [id, device] of last) fresh.set(id, device);
  for (const release of ["r0", "r1", "r2"]) {
    assertEquals(counts.countsOf(release), fresh.countsOf(release), `seed ${seed}`);
    assertEquals(counts.latestErrorOf(release), fresh.latestErrorOf(release), `seed ${seed}`);
    const sum = TARGET_STATES.reduce((total, name) => total + counts.countsOf(release)[name], 0);
    assertEquals(sum, counts.countsOf(release).targets, `seed ${seed}`);
  }
});
