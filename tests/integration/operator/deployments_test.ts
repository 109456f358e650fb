import { assert, assertEquals } from "@std/assert";
import { BUCKETS, deploymentStatusKey, desiredEntryKey } from "../../../contracts/buckets.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { testOnNats } from "./nats_world.ts";

testOnNats("a deployment reaches the devices that it is placed on, and is counted", async (world) => {
  await world.operator();
  for (const id of ["d1", "d2", "d3"]) world.device(id);
  const [first, second] = [world.workloads("d1"), world.workloads("d2")];
  world.workloads("d3");
  await world.groups("d1", ["edge"], { site: "basel" });
  await world.groups("d2", ["edge"], { site: "bern" });
  await world.groups("d3", ["core"], { site: "basel" });
  for (const id of ["d1", "d2", "d3"]) await world.untilTold(id, []);
  await world.deployment("web");
  await world.deployment("local", { targetSelector: { matchLabels: { site: "basel" } } });
  await world.untilTold("d1", ["local 1", "web 1"]);
  await world.untilTold("d2", ["web 1"]);
  await world.untilDeployment("web", { targets: 2, ready: 2, failed: 0, pending: 0 });
  await world.untilDeployment("local", { targets: 1, ready: 1 });
  assertEquals((await world.told("d3")).entries, []);
  assertEquals([first.running, second.running], [["local 1", "web 1"], ["web 1"]]);
  const { metadata, status } = await world.until(
    "FleetDeployment",
    "web",
    ({ status }) => status?.conditions?.find(({ type }) => type === "Ready")?.status === "True",
  );
  assertEquals(status?.observedGeneration, metadata.generation);

  // Another spec is another generation.
  await world.deployment("web", { podmanV0: { containers: [{ name: "app", image: "registry.example/app:2" }] } });
  await world.untilTold("d1", ["local 1", "web 2"]);
  await world.untilDeployment("web", { targets: 2, ready: 2, observedGeneration: 2 });
  // Joining, leaving, other labels, and a group that it does not allow.
  await world.groups("d3", ["core", "edge"], { site: "basel" });
  await world.untilTold("d3", ["local 1", "web 2"]);
  await world.groups("d1", ["edge"], { site: "chur" });
  await world.untilTold("d1", ["web 2"]);
  await world.groups("d2", [], { site: "bern" });
  await world.untilTold("d2", []);
  await world.untilDeployment("web", { targets: 2, ready: 2 });
  await waitUntil("d2 to be empty", () => second.running.length === 0);
  assertEquals(second.history, ["+web", "~web", "-web"]);

  // Deleted: gone everywhere, the other one stays.
  await world.store.delete("FleetDeployment", "web");
  await world.untilTold("d1", []);
  await world.untilTold("d3", ["local 1"]);
  await world.untilDeployment("local", { targets: 1, ready: 1 });
  await waitUntil("d1 to be empty", () => first.running.length === 0);
});

testOnNats(
  "failures are counted with the latest error, and a selector that is not understood places nothing",
  async (world) => {
    await world.operator();
    for (const id of ["d1", "d2"]) {
      world.device(id);
      world.workloads(id, { outcome: (name) => id === "d2" && name === "web" ? "failed" : "ready" });
      await world.groups(id, ["edge"]);
    }
    await world.deployment("web");
    await world.untilDeployment("web", { targets: 2, ready: 1, failed: 1, lastError: "d2: app: no image for web" });
    const { status } = await world.until(
      "FleetDeployment",
      "web",
      ({ status }) => status?.conditions?.some(({ reason }) => reason === "NotAllReady") === true,
    );
    assertEquals(status?.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`), [
      "Accepted True Accepted",
      "Ready False NotAllReady",
      "Progressing False NothingLeft",
      "Degraded True DevicesFailed",
    ]);
    await world.deployment("web", { targetSelector: { matchExpressions: [] } });
    await world.untilTold("d1", []);
    await world.untilDeployment("web", { targets: 0, ready: 0, failed: 0 });
    const closed = await world.until("FleetDeployment", "web", ({ status }) => status?.observedGeneration === 2);
    assertEquals(closed.status?.conditions?.[0]?.reason, "MatchExpressionsUnsupported");
  },
);

testOnNats("what changes while no operator runs is made up for at the next start", async (world) => {
  const stop = await world.operator();
  for (const id of ["d1", "d2"]) {
    world.device(id);
    await world.groups(id, ["edge"]);
  }
  const device = world.workloads("d1");
  await world.deployment("old");
  await world.deployment("kept");
  await world.untilTold("d2", ["kept 1", "old 1"]);
  await world.untilTold("d1", ["kept 1", "old 1"]);
  await stop();
  await world.store.delete("FleetDeployment", "old");
  // A new one of the same name is another deployment.
  await world.store.delete("FleetDeployment", "kept");
  await world.deployment("kept");
  await world.deployment("new");
  await world.groups("d2", []);
  await world.operator();
  await world.untilTold("d1", ["kept 1", "new 1"]);
  await world.untilTold("d2", []);
  await waitUntil("d1", () => device.running.join() === "kept 1,new 1");
});

testOnNats("the keys of a device that is deleted and gone are deleted too", async (world) => {
  await world.operator();
  const device = world.device("d1");
  world.workloads("d1");
  await world.groups("d1", ["edge"]);
  await world.deployment("web");
  await world.untilDeployment("web", { targets: 1, ready: 1 });
  assert(device !== undefined);
  // Gone for good: nobody will say again who it is.
  await (await world.bus.bucket(BUCKETS.deviceInfo)).delete("d1");
  await world.store.delete("Device", "d1");
  const [desired, reports] = [
    await world.bus.bucket(BUCKETS.desiredState),
    await world.bus.bucket(BUCKETS.deploymentStatus),
  ];
  const uid = (await world.store.get("FleetDeployment", "web"))?.metadata.uid ?? "";
  await waitUntil("its keys to go", async () =>
    await desired.get(desiredEntryKey("d1", uid)) === null &&
    await reports.get(deploymentStatusKey("d1", uid)) === null);
  // If it comes back after all, it must run nothing.
  await waitUntil("its count", async () => (await world.told("d1")).count === 0);
  await world.untilDeployment("web", { targets: 0 });
});
