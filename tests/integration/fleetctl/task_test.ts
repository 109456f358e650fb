import { assert, assertEquals } from "@std/assert";
import { BUCKETS } from "../../../contracts/buckets.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { TaskWorld } from "../operator/task_world.ts";
import { fleetctlTest } from "./fleetctl_world.ts";
import { withOperator } from "./with_operator.ts";

const RUN = ["task", "run", "upgrade", "--group", "edge"];

fleetctlTest(
  "task: previews exactly what is then frozen, asks, runs, and lists who is behind its counts",
  async (world) => {
    await withOperator(world, async (fleet) => {
      const tasks = new TaskWorld(fleet);
      try {
        const gate = Promise.withResolvers<void>();
        const waiting = (phase: string) =>
          phase === "succeeded" || phase === "failed" ? gate.promise : Promise.resolve();
        await tasks.devices(["c1"], {}, 1);
        await tasks.devices(["d1"], { outcome: () => "failed", gate: waiting });
        await tasks.devices(["d2"], { gate: waiting });
        fleet.device("old", { capabilities: ["https"] });
        await fleet.groups("old", ["edge"]);
        fleet.device("other", { capabilities: ["https", "AptFullUpgradeV1"] });
        await fleet.groups("other", ["core"]);
        for (const id of ["old", "other"]) await fleet.untilDevice(id, ({ liveness }) => liveness === "Online");

        const preview = JSON.parse((await world.run([...RUN, "--dry-run", "-o", "json"])).out);
        const { canaries, devices, incapable, offline, targets, unauthorized } = preview;
        assertEquals([targets, canaries, offline, incapable, unauthorized], [3, 1, 0, 1, 1]);
        assertEquals(devices, ["c1", "d1", "d2"]);
        assertEquals(await fleet.store.list("TaskRun"), []);

        // Nobody can be asked where the standard input is no terminal.
        const refused = await world.run(RUN);
        assert(refused.code === 2 && refused.err.includes("say --yes"), refused.err);
        assertEquals(await fleet.store.list("TaskRun"), []);
        const ran = await world.run([...RUN, "--yes"]);
        assertEquals(ran.code, 0, ran.err);
        assert(ran.out.endsWith("taskrun/upgrade created\n"), ran.out);
        assertEquals((await world.run([...RUN, "--yes"])).code, 4);

        const running = await tasks.until("upgrade", { phase: "Running", released: 3, targets, canaries, incapable });
        const { uid } = running.metadata;
        await waitUntil("both to accept", async () => {
          const statuses = await fleet.bus.bucket(BUCKETS.systemUpgradeStatus);
          return await statuses.get(`d1.${uid}`) !== null && await statuses.get(`d2.${uid}`) !== null;
        });
        const names = async (...more: string[]) => {
          const listed = await world.run(["task", "devices", "upgrade", "-o", "name", ...more]);
          return listed.out.trim().split("\n").map((line) => line.replace("device/", "")).join();
        };
        assertEquals(await names(), "c1,d1,d2");
        assertEquals([await names("--phase", "succeeded"), await names("--phase", "running")], ["c1", "d1,d2"]);
        gate.resolve();
        await tasks.until("upgrade", { phase: "Failed", reason: "DevicesFailed" });
        assertEquals(await names("--phase", "failed", "--reason", "IndexRefreshFailed"), "d1");
        assertEquals(await names("--phase", "failed", "--reason", "DiskFull"), "");
        const described = await world.run(["describe", "task", "upgrade"]);
        assert(described.out.includes("fleetctl task devices upgrade --phase failed"), described.out);
        assert((await world.run(["task", "get"])).out.includes("DevicesFailed"));

        const changed = { ...running, spec: { ...running.spec, deadlineSeconds: 60 } };
        const document = JSON.stringify({ ...changed, metadata: { name: "upgrade" } });
        const applied = await world.run(["apply", "-f", "-"], { stdin: document });
        assert(applied.code === 4 && applied.err.includes("cannot be changed once the run is created"), applied.err);
        assertEquals((await world.run(["delete", "task", "upgrade"])).code, 0);
        assertEquals(await fleet.store.list("TaskRun"), []);
      } finally {
        await tasks.close();
      }
    });
  },
);
