/**
 * Workloads beside everything that happens to an agent: containers never notice.
 *
 * @module
 */
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { BUCKET_SPECS, BUCKETS } from "../../../contracts/buckets.ts";
import { DesiredStateWriter } from "../../fakes/desired_state_writer.ts";
import { untilReported } from "../../fakes/reported_deployments.ts";
import { containerOf, entryDocument } from "../../fakes/workload_samples.ts";
import { FAST_AGENT } from "../../fleet/fleet.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { AGENT, DEVICE_ID, type LabFleet } from "../lab_fleet.ts";
import { askPodman, importAppImage } from "../lab_podman.ts";
import { assertEnd, type Scenario } from "../scenario.ts";

const AGENT_BOUNDS = { ...FAST_AGENT, workloadResyncMs: 2_000, workloadRetryMinMs: 200, workloadRetryMaxMs: 2_000 };
const OPTIONS = { setupOptions: "--podman", agentBounds: AGENT_BOUNDS } as const;
/** What an operator does when the broker has lost what it had in memory. */
async function ensureBuckets({ fleet }: LabFleet): Promise<void> {
  await waitUntil("the operator's connection", () => fleet.bus.connected, 30_000);
  await fleet.bus.ensureBuckets(BUCKET_SPECS, 1, 1);
}

/** Ends at once when it is told to. */
const COMMAND = ["/bin/sh", "-c", "trap 'exit 0' TERM; while :; do sleep 1; done"];

function container(name: string, env: Record<string, string> = {}) {
  return containerOf(name, { command: COMMAND, env, stopTimeoutSeconds: 5 });
}

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly startedAt: number;
}

/** All containers of the agent's user. */
async function containers({ device }: LabFleet): Promise<Listed[]> {
  const found = JSON.parse(await askPodman(device, "GET /libpod/containers/json?all=true")) as Record<
    string,
    unknown
  >[];
  return found.map(({ Id, Names, StartedAt, State }) => ({
    id: String(Id),
    name: String((Names as unknown[])[0]),
    state: String(State),
    startedAt: Number(StartedAt),
  })).sort((a, b) => a.name < b.name ? -1 : 1);
}

/** The same containers, and none of them was started again. */
async function assertUntouched(lab: LabFleet, before: readonly Listed[], what: string): Promise<void> {
  assertEquals(await containers(lab), before, what);
}

const twoDeployments = [entryDocument(1, [container("app"), container("side")]), entryDocument(2, [container("app")])];
const TWO_READY = ["web-1 1 ready", "web-2 1 ready"];

/** A device that runs two deployments, and one container of somebody else. */
async function running(lab: LabFleet, desired: DesiredStateWriter): Promise<Listed[]> {
  await importAppImage(lab.device);
  const foreign = { name: "foreign", image: "localhost/app:1", command: COMMAND, restart_policy: "always" };
  await askPodman(lab.device, "POST /libpod/containers/create", foreign);
  await askPodman(lab.device, "POST /libpod/containers/foreign/start");
  await desired.write(twoDeployments);
  await untilReported(lab.fleet.bus, TWO_READY, DEVICE_ID, 90_000);
  const found = await containers(lab);
  assertEquals(found.map(({ name, state }) => `${name} ${state}`), [
    "foreign running",
    "web-1.app running",
    "web-1.side running",
    "web-2.app running",
  ]);
  return found;
}

const neverNotice: Scenario = {
  name: "workloads-never-notice",
  inShort: true,
  title:
    "containers run on through an upgrade, a rollback, a crash, a stop and an outage of NATS: same ids, same starts",
  options: OPTIONS,
  async run(lab) {
    const { device, fleet } = lab;
    const desired = new DesiredStateWriter(fleet.bus, DEVICE_ID);
    const before = await running(lab, desired);
    await assertEnd(lab, await lab.release({ version: "2.0.0" }), { version: "2.0.0", phase: "complete" });
    await assertUntouched(lab, before, "an upgrade");
    await lab.behave({ "3.0.0": { exitCode: 1 } });
    await assertEnd(lab, await lab.release({ version: "3.0.0" }), {
      version: "2.0.0",
      phase: "failed",
      reason: "ExitedBeforeReady",
    });
    await assertUntouched(lab, before, "a rollback");
    const restarts = Number(await device.property(AGENT, "NRestarts"));
    await device.sh(`systemctl kill --signal=KILL ${AGENT}`);
    await lab.restarted(restarts);
    await lab.agentReady("2.0.0");
    await assertUntouched(lab, before, "a crash");
    await device.sh(`systemctl stop ${AGENT}`);
    await assertUntouched(lab, before, "a stop");
    await device.sh(`systemctl start ${AGENT}`);
    await lab.agentReady("2.0.0");
    await fleet.server.kill9();
    await waitUntil("the agent to notice", async () => /NATS/.test(await device.property(AGENT, "StatusText")), 60_000);
    await assertUntouched(lab, before, "an outage");
    await fleet.server.restart();
    await ensureBuckets(lab);
    await desired.write([entryDocument(1, [container("app"), container("side")], 2), twoDeployments[1] ?? {}]);
    await untilReported(fleet.bus, ["web-1 2 ready", "web-2 1 ready"], DEVICE_ID, 90_000);
    await assertUntouched(lab, before, "an outage that ended, and a new generation of the same");
    // What has changed is made anew, and only that.
    await desired.write([
      entryDocument(1, [container("app", { A: "1" }), container("side")], 3),
      twoDeployments[1] ?? {},
    ]);
    await untilReported(fleet.bus, ["web-1 3 ready", "web-2 1 ready"], DEVICE_ID, 90_000);
    const after = await containers(lab);
    assertNotEquals(after[1]?.id, before[1]?.id);
    assertEquals(after.filter(({ name }) => name !== "web-1.app"), before.filter(({ name }) => name !== "web-1.app"));
  },
};

const nothingIsRemoved: Scenario = {
  name: "workloads-without-proof",
  title: "a snapshot cut short, an emptied bucket and one that was lost delete nothing; what is whole does",
  options: OPTIONS,
  async run(lab) {
    const { device, fleet } = lab;
    const desired = new DesiredStateWriter(fleet.bus, DEVICE_ID);
    const before = await running(lab, desired);
    const blocked = () =>
      waitUntil("blocked", async () => (await lab.heartbeat()).includes("nothing is removed"), 60_000);
    await desired.empty();
    await blocked();
    await assertUntouched(lab, before, "an emptied bucket");
    // An agent that starts with it knows nothing else.
    await device.sh(`systemctl restart ${AGENT}`);
    await lab.agentReady("1.0.0");
    await waitUntil("a look at Podman", async () => !(await lab.heartbeat()).includes('"sequence":1,'), 30_000);
    await assertUntouched(lab, before, "a start with an emptied bucket");
    await desired.writeGeneration(2);
    await desired.writeEntry(twoDeployments[0] ?? {});
    await waitUntil("the entry", async () => (await lab.heartbeat()).length > 0, 30_000);
    await device.sh(`systemctl restart ${AGENT}`);
    await lab.agentReady("1.0.0");
    await assertUntouched(lab, before, "a snapshot cut short");
    await desired.write(twoDeployments.slice(1));
    await untilReported(fleet.bus, ["web-2 1 ready"], DEVICE_ID, 60_000);
    assertEquals((await containers(lab)).map(({ name }) => name), ["foreign", "web-2.app"]);
    await desired.write([]);
    await untilReported(fleet.bus, [], DEVICE_ID, 60_000);
    assertEquals((await containers(lab)).map(({ name }) => name), ["foreign"]);
  },
};

const FIFTY = 50;

const fiftyContainers: Scenario = {
  name: "fifty-containers",
  title: "fifty containers are made in one pass, and go in one",
  options: { ...OPTIONS, agentBounds: { ...AGENT_BOUNDS, workloadResyncMs: 60_000 } },
  async run(lab, note) {
    const desired = new DesiredStateWriter(lab.fleet.bus, DEVICE_ID);
    await importAppImage(lab.device);
    const entries = [1, 2, 3, 4, 5].map((digit) =>
      entryDocument(digit, Array.from({ length: FIFTY / 5 }, (_, index) => container(`c${index}`)))
    );
    const ready = entries.map(({ name }) => `${name} 1 ready`);
    let startedMs = performance.now();
    await desired.write(entries);
    await untilReported(lab.fleet.bus, ready, DEVICE_ID, 300_000);
    note("fifty_made_ms", Math.round(performance.now() - startedMs));
    const made = await containers(lab);
    assertEquals(made.filter(({ state }) => state === "running").length, FIFTY);
    // A pass is one look and all changes: each container was made in the order of one.
    const log = await lab.device.sh(`journalctl -q -o cat -u ${AGENT} | grep -c '"message":"container changed"'`);
    assertEquals(Number(log), FIFTY);
    startedMs = performance.now();
    await lab.device.sh(`systemctl restart ${AGENT}`);
    await lab.agentReady("1.0.0");
    note("restart_with_fifty_ms", Math.round(performance.now() - startedMs));
    assertEquals(await containers(lab), made);
    startedMs = performance.now();
    await desired.write([]);
    await untilReported(lab.fleet.bus, [], DEVICE_ID, 300_000);
    note("fifty_removed_ms", Math.round(performance.now() - startedMs));
    assertEquals(await containers(lab), []);
  },
};

const rebootWithoutNats: Scenario = {
  name: "workloads-reboot-without-nats",
  title: "after a reboot without NATS the containers run again, and an agent that comes later touches none",
  options: OPTIONS,
  async run(lab) {
    const { device, fleet } = lab;
    const desired = new DesiredStateWriter(fleet.bus, DEVICE_ID);
    const before = await running(lab, desired);
    assertEquals(await device.sh("systemctl --user -M fleet-agent@ is-enabled podman-restart.service"), "enabled");
    for (const how of ["reboot", "cut"] as const) {
      await fleet.server.kill9();
      if (how === "reboot") await device.shutDown("reboot");
      else await device.cut();
      await device.boot();
      const again = await waitUntil(`the containers after a ${how}`, async () => {
        const found = await containers(lab).catch(() => []);
        return found.length === before.length && found.every(({ state }) => state === "running") ? found : null;
      }, 90_000);
      assertEquals(again.map(({ id }) => id), before.map(({ id }) => id), how);
      assert((await device.property(AGENT, "ActiveState")) !== "active", "the agent cannot be READY without NATS");
      await fleet.server.restart();
      await ensureBuckets(lab);
      await lab.agentReady("1.0.0", 120_000);
      await desired.write(twoDeployments);
      await untilReported(fleet.bus, TWO_READY, DEVICE_ID, 90_000);
      await assertUntouched(lab, again, `the agent after a ${how}`);
    }
    assert((await lab.document(BUCKETS.deviceInfo)).includes('"step":"ready"'));
  },
};

/** Workloads. */
export const WORKLOADS: readonly Scenario[] = [neverNotice, nothingIsRemoved, fiftyContainers, rebootWithoutNats];
