/**
 * Samples of a deployment: as a resource, as a device is told, and as a device answers.
 *
 * @module
 */
import { API_VERSION } from "../../contracts/resource.ts";
import { uid } from "./fleet_documents.ts";

/** A workload with every member. */
export const workload = {
  containers: [
    {
      name: "app",
      image: `registry.example:5000/shop/app@sha256:${"c".repeat(64)}`,
      pullPolicy: "missing",
      entrypoint: ["/bin/app"],
      command: ["--listen", "0.0.0.0:8080"],
      env: { LOG_LEVEL: "info" },
      ports: [{ containerPort: 8080, hostPort: 80, protocol: "tcp", hostIp: "127.0.0.1" }],
      volumes: [
        { type: "bind", source: "/etc/shop", target: "/etc/shop", readOnly: true },
        { type: "named", source: "shop-data", target: "/var/lib/shop" },
      ],
      user: "1000:1000",
      networkMode: "bridge",
      restartPolicy: "always",
      stopTimeoutSeconds: 20,
      labels: { "example.com/team": "shop" },
    },
    { name: "metrics", image: "localhost/metrics:1" },
  ],
};

/** What a device is told of a deployment. */
export const desiredWeb = { schema: 1, deploymentId: uid, name: "web", generation: 3, podmanV0: workload };

/** A deployment of which one container cannot be had. */
export const deploymentFailed = {
  schema: 1,
  deviceId: "device-1",
  deploymentId: uid,
  name: "web",
  generation: 3,
  phase: "failed",
  reason: "ImageUnavailable",
  error: "app: Cannot pull registry.example:5000/shop/app: the registry does not know the image",
  containers: [{ name: "app", state: "failed", reason: "ImageUnavailable" }, { name: "metrics", state: "running" }],
  since: "2026-11-30T08:00:10.000Z",
  updatedAt: "2026-11-30T08:00:10.000Z",
};

/** A deployment as the store returns it. */
export const deployment = {
  apiVersion: API_VERSION,
  kind: "FleetDeployment",
  metadata: {
    name: "web",
    uid,
    resourceVersion: "44",
    generation: 3,
    creationTimestamp: "2026-11-01T00:00:00.000Z",
  },
  spec: { allowedGroups: ["production"], targetSelector: { matchLabels: { site: "basel" } }, podmanV0: workload },
  status: {
    targets: 4,
    ready: 2,
    failed: 1,
    pending: 1,
    lastError: "device-1: app: Cannot pull registry.example:5000/shop/app: the registry does not know the image",
    conditions: [{
      type: "Ready",
      status: "False",
      reason: "NotAllReady",
      message: "2 of 4 targets are ready",
      lastTransitionTime: "2026-11-30T08:00:43.000Z",
      observedGeneration: 3,
    }],
    observedGeneration: 3,
  },
};
