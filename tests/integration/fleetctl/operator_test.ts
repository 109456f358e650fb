import { assert, assertEquals } from "@std/assert";
import { BUCKETS } from "../../../contracts/buckets.ts";
import { fleetctlTest } from "./fleetctl_world.ts";
import { withOperator } from "./with_operator.ts";
import { digest } from "../../fakes/operator_samples.ts";

const RELEASE = JSON.stringify({
  apiVersion: "fleet.nationtech.io/v1alpha1",
  kind: "AgentRelease",
  metadata: { name: "agent-1-1" },
  spec: {
    version: "1.1.0",
    artifacts: [{ arch: "x86_64", form: "script", url: "https://a.example/b", sha256: digest("a"), maxBytes: 1_000 }],
    allowedGroups: ["edge"],
    targetSelector: {},
  },
});

fleetctlTest("previews exactly what the operator then does, and lists who is behind its counts", async (world) => {
  await withOperator(world, async (fleet) => {
    fleet.device("good");
    fleet.device("bad", { outcome: () => "rolled-back" });
    fleet.device("broken", { outcome: () => "rollback-failed" });
    fleet.device("arm", { arch: "aarch64" });
    fleet.device("old", { capabilities: [] });
    fleet.device("new", { version: "1.1.0" });
    const ids = ["arm", "bad", "broken", "good", "new", "old"];
    for (const id of ids) await fleet.groups(id, ["edge"]);
    for (const id of ids) await fleet.untilDevice(id, ({ desiredReason }) => desiredReason === "NoRelease");

    const preview = JSON.parse(
      (await world.run(["apply", "-f", "-", "--dry-run", "-o", "json"], { stdin: RELEASE })).out,
    );
    assertEquals(preview.impact.releases[0], {
      release: "agent-1-1",
      targets: 6,
      wouldUpgrade: 3,
      others: { NoArtifact: 1, UpToDate: 1, UpdaterTooOld: 1 },
      gained: 6,
      lost: 0,
      tied: 0,
    });
    assertEquals((await world.run(["apply", "-f", "-"], { stdin: RELEASE })).out, "agentrelease/agent-1-1 created\n");
    await fleet.untilRelease("agent-1-1", { targets: 6, current: 2, rolledBack: 1, quarantined: 1, ineligible: 2 });
    const attempts = [...fleet.devices.values()].flatMap(({ executed }) =>
      executed.length > 0 ? [executed.length] : []
    );
    assertEquals(attempts, [1, 1, 1]);

    const behind = async (phase: string) => {
      const { out } = await world.run(["release", "devices", "agent-1-1", "--phase", phase, "-o", "name"]);
      return out.trim().split("\n").map((line) => line.replace("device/", ""));
    };
    assertEquals(await behind("targets"), ids);
    assertEquals(await behind("current"), ["good", "new"]);
    assertEquals(await behind("rolled-back"), ["bad"]);
    assertEquals(await behind("quarantined"), ["broken"]);
    assertEquals(await behind("ineligible"), ["arm", "old"]);

    const release = (await world.run(["describe", "release", "agent-1-1"])).out;
    assert(release.includes("State:         Stuck"), release);
    assert(/quarantined +1\n/.test(release) && release.includes("fleet-updater repair"), release);
    const device = (await world.run(["describe", "device", "bad"])).out;
    assert(device.includes("rolling-back") && device.includes("RolledBack: 1.1.0 was started"), device);
    const broken = (await world.run(["describe", "device", "broken"])).out;
    assert(
      broken.includes("rollback-failed") && broken.includes("on the device, as root: fleet-updater repair"),
      broken,
    );
    const arm = (await world.run(["describe", "device", "arm"])).out;
    assert(arm.includes("NoArtifact: Release agent-1-1 has no artifact for aarch64 in the form script"), arm);
  });
});

fleetctlTest("retries what failed, and only there", async (world) => {
  await withOperator(world, async (fleet) => {
    let good = false;
    const bad = fleet.device("bad", { outcome: () => good ? "complete" : "failed" });
    const fine = fleet.device("fine");
    for (const id of ["bad", "fine"]) await fleet.groups(id, ["edge"]);
    await world.run(["apply", "-f", "-"], { stdin: RELEASE });
    await fleet.untilRelease("agent-1-1", { targets: 2, current: 1, failed: 1 });
    good = true;
    const retry = await world.run(["release", "retry", "agent-1-1"]);
    assertEquals([retry.code, retry.out], [0, "agentrelease/agent-1-1 retried (revision 1 -> 2)\n"]);
    assert(retry.err.includes("it failed on 1 device, which will try it again"), retry.err);
    await fleet.untilRelease("agent-1-1", { targets: 2, current: 2, failed: 0 });
    assertEquals([bad.executed.length, fine.executed.length], [2, 1]);
    const table = (await world.run(["get", "releases"])).out;
    assert(/agent-1-1 +1\.1\.0 +2 +0 +Complete +2\/2 +0 +- /.test(table), table);
    const status = await world.bus.bucket(BUCKETS.upgradeStatus);
    assert((await status.get("bad")) !== null);
  });
});
