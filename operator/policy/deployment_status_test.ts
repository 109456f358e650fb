import { assertEquals } from "@std/assert";
import { type FleetDeploymentStatus, fleetDeploymentStatus } from "../../contracts/fleet_deployment.ts";
import { DETAIL_MAX_CHARS } from "../../contracts/limits.ts";
import { deployment } from "../../tests/fakes/operator_samples.ts";
import { type DeploymentStatusFacts, nextDeploymentStatus } from "./deployment_status.ts";

const NOW_MS = Date.parse("2026-06-01T12:00:00.000Z");

function facts(changes: Partial<DeploymentStatusFacts> = {}): DeploymentStatusFacts {
  return {
    nowMs: NOW_MS,
    generation: 2,
    spec: deployment({ name: "web" }).spec,
    counts: { targets: 4, ready: 4, failed: 0, pending: 0 },
    placing: false,
    latestError: null,
    ...changes,
  };
}

function conditions(status: FleetDeploymentStatus): string[] {
  return (status.conditions ?? []).map(({ type, status, reason, message }) =>
    `${type} ${status} ${reason}: ${message}`
  );
}

Deno.test("all targets ready", () => {
  const status = nextDeploymentStatus(undefined, facts());
  assertEquals(fleetDeploymentStatus(status, "status"), status);
  assertEquals([status.targets, status.ready, status.failed, status.pending, status.observedGeneration], [
    4,
    4,
    0,
    0,
    2,
  ]);
  assertEquals(conditions(status), [
    "Accepted True Accepted: the spec is understood",
    "Ready True AllReady: 4 of 4 targets are ready",
    "Progressing False NothingLeft: 0 pending",
    "Degraded False NoFailures: no target has failed",
  ]);
});

Deno.test("some pending, some failed", () => {
  const latestError = { deviceId: "d1", error: "x".repeat(DETAIL_MAX_CHARS), at: "2026-06-01T11:00:00.000Z" };
  const status = nextDeploymentStatus(
    undefined,
    facts({
      counts: { targets: 6, ready: 1, failed: 2, pending: 3 },
      latestError,
    }),
  );
  assertEquals(status.lastError?.length, DETAIL_MAX_CHARS);
  assertEquals(status.lastError?.slice(0, 6), "d1: xx");
  assertEquals(conditions(status).slice(1), [
    "Ready False NotAllReady: 1 of 6 targets are ready",
    "Progressing True Pending: 3 pending, 2 failed and tried again",
    "Degraded True DevicesFailed: 2 failed",
  ]);
});

Deno.test("while devices are being told, nothing is ready", () => {
  const placing = nextDeploymentStatus(undefined, facts({ placing: true }));
  assertEquals(conditions(placing).slice(1, 3), [
    "Ready False Placing: 4 of 4 targets are ready, and others are being told",
    "Progressing True Placing: 0 pending",
  ]);
  const nowhere = nextDeploymentStatus(undefined, facts({ counts: { targets: 0, ready: 0, failed: 0, pending: 0 } }));
  assertEquals(conditions(nowhere)[1], "Ready False NoTargets: it is placed on no device");
});

Deno.test("a selector that is not understood is told, and a condition keeps its time", () => {
  const spec = { ...deployment({ name: "web" }).spec, targetSelector: { matchExpressions: {} } };
  const first = nextDeploymentStatus(undefined, facts({ spec }));
  assertEquals(
    conditions(first)[0],
    [
      "Accepted False MatchExpressionsUnsupported: targetSelector.matchExpressions is not supported:",
      "the deployment is placed on no device",
    ].join(" "),
  );
  const second = nextDeploymentStatus(first, facts({ spec, nowMs: NOW_MS + 60_000, generation: 3 }));
  assertEquals(second.conditions?.[0]?.lastTransitionTime, "2026-06-01T12:00:00.000Z");
  assertEquals(second.conditions?.[0]?.observedGeneration, 3);
});
