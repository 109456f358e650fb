/**
 * Plans a run on a fleet, as the operator does, on a real server: prints how many ms the plan took, how many MiB more than
 * at idle were resident meanwhile, and how many ms a second operator takes to read it back.
 *
 * usage: task_plan_run.ts DEVICES
 *
 * @module
 */
import { BUCKET_SPECS, type BucketName, BUCKETS } from "../contracts/buckets.ts";
import { API_VERSION } from "../contracts/resource.ts";
import { connectBus } from "../lib/bus/connect.ts";
import { silentLogger } from "../lib/log.ts";
import { deviceSpecGroups } from "../operator/groups/device_spec_groups.ts";
import { FleetView } from "../operator/reconcile/fleet_view.ts";
import { EmbeddedStore } from "../operator/stores/embedded.ts";
import { loadPlan } from "../operator/tasks/load_plan.ts";
import { planRun } from "../operator/tasks/run_planner.ts";
import { StoredTaskWrites } from "../operator/tasks/task_writes.ts";
import { taskRun } from "../tests/fakes/task_samples.ts";
import { startNatsServer } from "../tests/nats/nats_server.ts";
import { forgetPeak, readMemory } from "./process_memory.ts";

/** One device in so many is a canary, and one in so many cannot be upgraded. */
const CANARY_EVERY = 100;
const INCAPABLE_EVERY = 50;
const WARM_UP_DEVICES = 1_000;

function fleetOf(size: number): FleetView {
  const view = new FleetView();
  const os = { name: "Debian GNU/Linux", version: "12", kernel: "6.1.0" };
  const capable = { version: "1.0.0", capabilities: ["https", "AptFullUpgradeV1"] };
  const incapable = { version: "1.0.0", capabilities: ["https"] };
  const creationTimestamp = new Date().toISOString();
  for (let index = 0; index < size; index++) {
    const id = `device-${index}`;
    view.putDevice({
      apiVersion: API_VERSION,
      kind: "Device",
      metadata: {
        name: id,
        labels: { "device-id": id, ...(index % CANARY_EVERY === 0 ? { canary: "true" } : {}) },
        uid: crypto.randomUUID(),
        resourceVersion: `${index}`,
        generation: 1,
        creationTimestamp,
      },
      spec: { groups: ["edge"] },
    });
    const updater = index % INCAPABLE_EVERY === 1 ? incapable : capable;
    const value = {
      agentVersion: "1.0.0",
      arch: "x86_64",
      form: "script",
      os,
      updater,
      step: "ready",
      receivedAtMs: 0,
    } as const;
    view.putDocument(BUCKETS.deviceInfo, id, { revision: index, receivedAtMs: 0, value });
  }
  return view;
}

const size = Number(Deno.args[0]);
if (!Number.isSafeInteger(size) || size < 1) throw new Error("usage: task_plan_run.ts DEVICES");
const server = await startNatsServer();
const bus = await connectBus({ servers: [server.url], name: "planner", auth: { kind: "none" } });
await bus.ensureBuckets(BUCKET_SPECS, 1_000, 1);
const bucket = (name: BucketName) => bus.bucket(name);
const writes = new StoredTaskWrites(new EmbeddedStore(await bucket(BUCKETS.resources)), bucket);

async function plan(fleet: FleetView): Promise<string> {
  const run = taskRun({ uid: crypto.randomUUID(), createdAtMs: Date.now() });
  const context = {
    fleet,
    groups: deviceSpecGroups,
    time: { nowMs: () => Date.now() },
    writes,
    bucket,
    log: silentLogger,
  };
  const planned = await planRun(context, run);
  if (planned.kind !== "frozen") throw new Error(`Cannot measure: the run is ${planned.kind}`);
  const targets = fleet.size - Math.ceil((fleet.size - 1) / INCAPABLE_EVERY);
  if (planned.plan.manifest.targets !== targets) throw new Error("Cannot measure: other targets than there are");
  return run.metadata.uid;
}

await plan(fleetOf(WARM_UP_DEVICES));
const fleet = fleetOf(size);
forgetPeak();
const { residentMib } = readMemory();
let startMs = performance.now();
const runId = await plan(fleet);
const planMs = performance.now() - startMs;
const growthMib = readMemory().peakMib - residentMib;
startMs = performance.now();
if (await loadPlan(await bucket(BUCKETS.taskPlan), runId) === null) throw new Error("Cannot measure: no plan");
const loadMs = performance.now() - startMs;
Deno.stdout.writeSync(new TextEncoder().encode(`${planMs.toFixed(1)} ${growthMib.toFixed(1)} ${loadMs.toFixed(1)}\n`));
await bus.close();
await server.stop();
