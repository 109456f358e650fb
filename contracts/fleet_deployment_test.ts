import { assert, assertEquals, assertLess } from "@std/assert";
import { assertRejected, assertStrictDecoder } from "../tests/assert/strict_decoder.ts";
import { deployment, deploymentFailed, desiredWeb } from "../tests/golden/deployment_documents.ts";
import { BUCKET_SPECS, BUCKETS, deploymentStatusFilter, deploymentStatusKey } from "./buckets.ts";
import { CONTAINER_STATES, DEPLOYMENT_PHASES, DEPLOYMENT_REASONS, deploymentStatus } from "./deployment_status.ts";
import { desiredDeployment, desiredEntry } from "./desired_state.ts";
import { fleetDeploymentSpec, fleetDeploymentStatus } from "./fleet_deployment.ts";
import { uuid } from "./formats.ts";
import * as limits from "./limits.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const sizeBytes = (document: unknown) => new TextEncoder().encode(JSON.stringify(document)).byteLength;

pure("FleetDeployment: strict in every field", () => {
  const { spec } = deployment;
  const selector = { ...spec.targetSelector, matchExpressions: [] };
  const options = { anything: ["targetSelector.matchExpressions"] };
  assertStrictDecoder(fleetDeploymentSpec, { ...spec, targetSelector: selector }, options);
  assertStrictDecoder(fleetDeploymentStatus, deployment.status);
  assertRejected(fleetDeploymentSpec, { ...deployment.spec, allowedGroups: [] }, "allowedGroups");
  for (const count of ["targets", "ready", "failed", "pending"]) {
    fleetDeploymentStatus({ ...deployment.status, [count]: 0 }, "");
    assertRejected(fleetDeploymentStatus, { ...deployment.status, [count]: -1 }, count);
  }
});

pure("desired deployment: strict, and an entry like every other", () => {
  assertStrictDecoder(desiredDeployment, desiredWeb);
  const { podmanV0: _, ...header } = desiredWeb;
  assertEquals(desiredEntry(desiredWeb, ""), header);
});

pure("deployment status: strict in every field", () => {
  assertStrictDecoder(deploymentStatus, deploymentFailed);
  for (const phase of DEPLOYMENT_PHASES) deploymentStatus({ ...deploymentFailed, phase }, "");
  for (const reason of DEPLOYMENT_REASONS) deploymentStatus({ ...deploymentFailed, reason }, "");
  for (const state of CONTAINER_STATES) {
    deploymentStatus({ ...deploymentFailed, containers: [{ name: "app", state }] }, "");
  }
});

pure("deployment status: the largest fits its bucket, with room for a newer writer's fields", () => {
  const longest = "A".repeat(limits.SHORT_TEXT_MAX_CHARS);
  const containers = Array(limits.DEPLOYMENT_CONTAINERS_MAX).fill({
    name: "c".repeat(limits.CONTAINER_NAME_MAX_CHARS),
    state: "restarting",
    reason: longest,
  });
  const largest = deploymentStatus({
    ...deploymentFailed,
    deviceId: "d".repeat(limits.DEVICE_ID_MAX_CHARS),
    name: "n".repeat(limits.RESOURCE_NAME_MAX_CHARS),
    generation: Number.MAX_SAFE_INTEGER,
    phase: "progressing",
    reason: longest,
    error: "\u0001".repeat(limits.DETAIL_MAX_CHARS),
    containers,
  }, "");
  assertLess(sizeBytes(largest), limits.DEPLOYMENT_STATUS_MAX_BYTES * 0.9);
  assertRejected(deploymentStatus, { ...largest, containers: [...containers, containers[0]] }, "containers");
});

pure("a workload at its limit fits its resource and its entry", () => {
  const room = limits.WORKLOAD_MAX_BYTES + sizeBytes({ ...desiredWeb, podmanV0: {} });
  assertLess(room + limits.RESOURCE_NAME_MAX_CHARS, limits.DESIRED_STATE_MAX_BYTES);
  assertLess(limits.WORKLOAD_MAX_BYTES * 2, limits.RESOURCE_MAX_BYTES + 1);
});

pure("deployment statuses of a device: a few on average fit, keys are below the device's", () => {
  const spec = BUCKET_SPECS.find(({ name }) => name === BUCKETS.deploymentStatus);
  assert(spec !== undefined);
  assertLess(4 * (sizeBytes(deploymentFailed) + limits.BUCKET_HEADERS_MAX_BYTES), spec.bytesPerDevice);
  const id = uuid(deploymentFailed.deploymentId, "");
  assertEquals([deploymentStatusKey("device-1", id), deploymentStatusFilter("device-1")], [
    `device-1.${id}`,
    "device-1.*",
  ]);
});

pure("limits: a stop and whatever else is one mutation ends before anybody gives up on it", () => {
  assertLess(limits.CONTAINER_STOP_DEFAULT_S, limits.CONTAINER_STOP_MAX_S + 1);
  assertLess(limits.CONTAINER_STOP_MAX_S * 1_000, limits.DRAIN_MUTATION_TIMEOUT_MS);
  assertLess(limits.CONTAINER_STOP_MAX_S * 1_000 + limits.PODMAN_REQUEST_TIMEOUT_MS, limits.LOOP_STALL_MS);
  assertLess(limits.PODMAN_REQUEST_TIMEOUT_MS, limits.DRAIN_MUTATION_TIMEOUT_MS);
  assertLess(limits.WORKLOAD_RETRY_MIN_MS, limits.WORKLOAD_RETRY_MAX_MS);
  assertLess(limits.WORKLOAD_SETTLE_MS, limits.WORKLOAD_RESYNC_MS);
  assertLess(limits.WORKLOAD_RESYNC_MS, limits.RESTART_STABLE_MS);
  // The pause that wakes a loop to show that it turns is far below the watchdog's patience.
  assertLess(limits.HEARTBEAT_INTERVAL_MS, limits.LOOP_STALL_MS);
});

pure("limits: a list of all containers fits one answer of Podman", () => {
  // What Podman says of one beside its labels, and the labels that a deployment may have.
  const averageBytes = 2 * 1_024 + 4 * 1_024;
  assertLess(limits.DEVICE_CONTAINERS_MAX * averageBytes, limits.PODMAN_ANSWER_MAX_BYTES);
});
