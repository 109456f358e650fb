import { assert, assertEquals } from "@std/assert";
import { BUCKETS, deploymentStatusKey, desiredEntryKey, generationKey } from "../../../contracts/buckets.ts";
import type { DeploymentStatus } from "../../../contracts/deployment_status.ts";
import type { FleetDeploymentStatus } from "../../../contracts/fleet_deployment.ts";
import { ago, MemoryFleet, sampleDeviceStatus, sampleHeartbeat } from "../../../tests/fakes/memory_fleet.ts";
import { MemoryTerminal } from "../../../tests/fakes/memory_terminal.ts";
import { assertGolden } from "../../../tests/golden/golden.ts";
import { deploymentDevicesCommand } from "../commands/deployment_devices_command.ts";
import { describeCommand } from "../commands/describe_command.ts";
import { getCommand } from "../commands/get_command.ts";
import { watchCommand } from "../commands/watch_command.ts";
import type { DeploymentPhaseName, OutputFormat, Selector } from "../invocation.ts";

const ERROR = "app: Cannot pull registry.example/shop/app:1.4: the registry does not know the image";

function status(changes: Partial<FleetDeploymentStatus> = {}): FleetDeploymentStatus {
  return {
    targets: 3,
    ready: 1,
    failed: 1,
    pending: 1,
    lastError: `device-2: ${ERROR}`,
    conditions: [{
      type: "Ready",
      status: "False",
      reason: "NotAllReady",
      message: "1 of 3 targets are ready",
      lastTransitionTime: ago(600_000),
      observedGeneration: 1,
    }],
    observedGeneration: 1,
    ...changes,
  };
}

/** One deployment on three devices, one in each count, and on one that the store does not know. */
async function sampleFleet(): Promise<MemoryFleet> {
  const fleet = await MemoryFleet.open();
  await fleet.deployment("web", {
    targetSelector: { matchLabels: { site: "lab" } },
    podmanV0: {
      containers: [
        {
          name: "app",
          image: "registry.example/shop/app:1.4",
          ports: [{ containerPort: 8080, hostPort: 80 }, { containerPort: 53, hostPort: 53, protocol: "udp" }],
        },
        { name: "metrics", image: "localhost/metrics:1", restartPolicy: "on-failure" },
      ],
    },
  }, status());
  const uid = await fleet.uidOf("web");
  for (const [index, id] of ["device-1", "device-2", "device-3"].entries()) {
    await fleet.device(id, ["edge"], sampleDeviceStatus({ liveness: index === 2 ? "Stale" : "Online" }), {
      site: "lab",
    });
    await tell(fleet, id, uid, 1);
  }
  await fleet.report(BUCKETS.deviceHeartbeat, "device-1", sampleHeartbeat("device-1"), 12_000);
  await say(fleet, "device-1", uid, {});
  await say(fleet, "device-2", uid, {
    phase: "failed",
    reason: "ImageUnavailable",
    error: ERROR,
    containers: [{ name: "app", state: "failed", reason: "ImageUnavailable" }, { name: "metrics", state: "running" }],
    since: ago(300_000),
  });
  return fleet;
}

async function tell(fleet: MemoryFleet, id: string, uid: string, generation: number): Promise<void> {
  const entry = { schema: 1, deploymentId: uid, name: "web", generation };
  await fleet.reportAt(BUCKETS.desiredState, desiredEntryKey(id, uid), entry, 3_600_000);
  const counted = { schema: 1, generation: 1, entries: 1, updatedAt: ago(3_600_000) };
  await fleet.reportAt(BUCKETS.desiredState, generationKey(id), counted, 3_600_000);
}

async function say(fleet: MemoryFleet, id: string, uid: string, changes: Partial<DeploymentStatus>): Promise<void> {
  const document: DeploymentStatus = {
    schema: 1,
    deviceId: id,
    deploymentId: uid,
    name: "web",
    generation: 1,
    phase: "ready",
    containers: [{ name: "app", state: "running" }, { name: "metrics", state: "running" }],
    since: ago(3_500_000),
    updatedAt: ago(3_500_000),
    ...changes,
  };
  await fleet.reportAt(BUCKETS.deploymentStatus, deploymentStatusKey(id, uid), document, 300_000);
}

async function devices(
  fleet: MemoryFleet,
  options: { phase?: DeploymentPhaseName; output?: OutputFormat; selector?: Selector; name?: string } = {},
) {
  const terminal = new MemoryTerminal();
  const { phase = "targets", output = "table", selector = {}, name = "web" } = options;
  const invocation = { command: "deployment-devices", name, phase, output, selector } as const;
  const code = await deploymentDevicesCommand(invocation, { fleet: fleet.access, terminal });
  return { code, out: terminal.stdout, err: terminal.stderr };
}

Deno.test("deployments are listed, described and watched", async () => {
  const fleet = await sampleFleet();
  const [listed, described] = [new MemoryTerminal(), new MemoryTerminal()];
  const query = { kind: "FleetDeployment", names: [], selector: {}, output: "table" } as const;
  await getCommand({ command: "get", ...query }, { fleet: fleet.access, terminal: listed });
  await assertGolden("fleetctl/get_deployments.txt", listed.stdout);
  const one = { command: "describe", kind: "FleetDeployment", names: ["web"], output: "table" } as const;
  await describeCommand(one, { fleet: fleet.access, terminal: described });
  await assertGolden("fleetctl/describe_deployment.txt", described.stdout);

  const [terminal, stop] = [new MemoryTerminal(), new AbortController()];
  const watching = watchCommand({ command: "watch", ...query }, { fleet: fleet.access, terminal }, stop.signal);
  await terminal.shows("Degraded");
  const stored = await fleet.store.get("FleetDeployment", "web");
  const next = status({ ready: 3, failed: 0, pending: 0 });
  await fleet.store.replaceStatus("FleetDeployment", "web", next, stored?.metadata.resourceVersion ?? "");
  await terminal.shows("3/3");
  await fleet.store.delete("FleetDeployment", "web");
  await terminal.shows("deleted");
  stop.abort();
  assertEquals(await watching, 0);
});

Deno.test("deployment devices lists who stands behind a count, with what the device says", async () => {
  const fleet = await sampleFleet();
  const all = await devices(fleet);
  await assertGolden("fleetctl/deployment_devices.txt", all.out);
  assertEquals((await devices(fleet, { phase: "failed", output: "name" })).out, "device/device-2\n");
  assertEquals((await devices(fleet, { phase: "pending", output: "name" })).out, "device/device-3\n");
  assertEquals(
    (await devices(fleet, { phase: "ready", selector: { site: "hall" } })).err,
    [
      "fleetctl: no device of web is ready\n",
    ].join(),
  );
  const json = JSON.parse((await devices(fleet, { phase: "failed", output: "json" })).out);
  assertEquals([json.deployment, json.generation, json.items.length], ["web", 1, 1]);
  const [{ device, state, told, status: said }] = json.items;
  assertEquals([device, state, told, said.reason], ["device-2", "failed", 1, "ImageUnavailable"]);
  const missing = await devices(fleet, { name: "wbe" });
  assertEquals([missing.code, missing.err], [3, 'fleetctl: there is no deployment "wbe"; did you mean web?\n']);
});

Deno.test("a target that was told another generation is pending, and one without a device is listed", async () => {
  const fleet = await sampleFleet();
  const uid = await fleet.uidOf("web");
  await tell(fleet, "device-1", uid, 2);
  await tell(fleet, "gone", uid, 1);
  await say(fleet, "elsewhere", uid, {});
  const { out } = await devices(fleet, { phase: "pending", output: "name" });
  assertEquals(out, "device/device-1\ndevice/device-3\ndevice/gone\n");
  fleet.lose(BUCKETS.deploymentStatus);
  const lost = await devices(fleet);
  assertEquals([lost.code, lost.out], [1, ""]);
  assert(lost.err.startsWith("fleetctl: what devices were told cannot be read: "), lost.err);
});

Deno.test("describe device shows its deployments, and what to do about one that failed", async () => {
  const fleet = await sampleFleet();
  const terminal = new MemoryTerminal();
  const one = { command: "describe", kind: "Device", names: ["device-2"], output: "table" } as const;
  await describeCommand(one, { fleet: fleet.access, terminal });
  const text = terminal.stdout;
  assertEquals(text.slice(text.indexOf("Deployments:")).split("\n").slice(0, 4), [
    "Deployments:",
    "  NAME          TOLD  PHASE   REASON            SINCE   OK  ERROR",
    `  web   generation 1  failed  ImageUnavailable  5m     1/2  ${ERROR}`,
    "",
  ]);
  assert(
    text.includes(`DeploymentFailed: It cannot run web (app) as it is, and tries again by itself: ${ERROR}`),
    text,
  );
});
