/**
 * Random lives of runs: devices that accept, succeed, fail, repeat themselves and fall silent; people who revoke, relabel
 * and delete; operators that crash, lag, lose answers and work at the same time. The invariants of `Fleet tasks` are
 * looked at on every write, and at the end every run has ended and nothing is left of it.
 *
 * `TASK_MODEL_SEED` repeats one life, `TASK_MODEL_ROUNDS` makes it more of them.
 */
import { assert, assertEquals } from "@std/assert";
import { BUCKET_SPECS, BUCKETS, runKey, splitSystemUpgradeKey, systemUpgradeKey } from "../../contracts/buckets.ts";
import { FleetError } from "../../contracts/errors.ts";
import { isTerminalSystemPhase, type SystemUpgradeStatus } from "../../contracts/system_upgrade.ts";
import type { GroupSource } from "../../operator/groups/port.ts";
import { EmbeddedStore } from "../../operator/stores/embedded.ts";
import { FakeClock, settle } from "../fakes/fake_clock.ts";
import { MemoryBroker, type MemoryBus } from "../fakes/memory_bus.ts";
import { FIRST_HEARTBEAT, systemStatus } from "../fakes/scripted_system.ts";
import { freshSeed, seededRandom } from "../fakes/seeded_random.ts";
import { runSpec } from "../fakes/task_samples.ts";
import { ModelOperator } from "./model_operator.ts";
import { RunInvariants } from "./run_invariants.ts";

const DEVICES = ["d0", "d1", "d2", "d3", "d4", "d5"];
const STEPS = 70;
const DEADLINE_S = 120;
const CAPABLE = ["https", "AptFullUpgradeV1"];

class ModelWorld {
  readonly clock = new FakeClock();
  readonly broker = new MemoryBroker(() => this.clock.nowMs());
  readonly random: () => number;
  readonly groups = new Map<string, string[]>();
  readonly capable = new Map<string, boolean>();
  readonly executed: string[] = [];
  readonly runIds: string[] = [];
  readonly deleted = new Set<string>();
  readonly operators: ModelOperator[] = [];
  readonly invariants: RunInvariants;
  isConcurrent = false;
  groupsFail = false;
  #bus: MemoryBus | undefined;
  #store: EmbeddedStore | undefined;
  #names = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed);
    for (const spec of BUCKET_SPECS) this.broker.createBucket(spec, 10);
    const isConcurrent = () => this.isConcurrent;
    this.invariants = new RunInvariants(this.broker, {
      groupsOf: (id) => this.groups.get(id) ?? null,
      get isConcurrent() {
        return isConcurrent();
      },
    });
  }

  readonly groupSource: GroupSource = {
    groupsOf: ({ metadata: { name } }) => {
      if (!this.groupsFail) return Promise.resolve(this.groups.get(name) ?? []);
      return Promise.reject(new FleetError("the directory is away", { code: "E_GROUPS", retry: "transient" }));
    },
    run: () => Promise.resolve(),
    onChange: () => () => {},
  };

  get bus(): MemoryBus {
    return this.#bus ??= this.broker.connect();
  }

  async store(): Promise<EmbeddedStore> {
    return this.#store ??= new EmbeddedStore(await this.bus.bucket(BUCKETS.resources), {
      nowMs: () => this.clock.nowMs(),
      newUid: () => `00000000-0000-4000-8000-${String(++this.#names).padStart(12, "0")}`,
    });
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[Math.floor(this.random() * items.length)];
  }

  chance(share: number): boolean {
    return this.random() < share;
  }

  async begin(): Promise<void> {
    const store = await this.store();
    for (const id of DEVICES) {
      this.groups.set(id, ["edge"]);
      this.capable.set(id, this.chance(0.85));
      const labels: Record<string, string> = this.chance(0.3) ? { canary: "true" } : {};
      await store.create("Device", { name: id, labels, spec: { groups: ["edge"] } });
    }
    for (let operator = 0; operator < 2; operator++) this.operators.push(await this.newOperator());
    await this.createRun();
  }

  newOperator(): Promise<ModelOperator> {
    return ModelOperator.start(this.broker, this.groupSource, this.clock);
  }

  async createRun(): Promise<void> {
    const spec = runSpec({ deadlineSeconds: DEADLINE_S });
    const created = await (await this.store()).create("TaskRun", {
      name: `run-${this.runIds.length}`,
      labels: {},
      spec,
    });
    if (created.ok) this.runIds.push(created.resource.metadata.uid);
  }

  /** Intents that stand there, as devices see them. */
  intents(): { deviceId: string; runId: string }[] {
    const entries = this.broker.stream(BUCKETS.systemUpgradeIntent)?.matching("*.*") ?? [];
    return entries.filter(({ deleted }) => !deleted).flatMap(({ key }) => splitSystemUpgradeKey(key) ?? []);
  }

  async publish(status: SystemUpgradeStatus): Promise<void> {
    const statuses = await this.bus.bucket(BUCKETS.systemUpgradeStatus);
    await statuses.put(
      systemUpgradeKey(status.deviceId, status.runId),
      new TextEncoder().encode(JSON.stringify(status)),
    );
  }

  statusOf(deviceId: string, runId: string): SystemUpgradeStatus | null {
    const entry = this.broker.stream(BUCKETS.systemUpgradeStatus)?.newest(systemUpgradeKey(deviceId, runId));
    return entry === undefined ? null : JSON.parse(new TextDecoder().decode(entry.value));
  }

  /** Attempts that were accepted and have not ended. */
  running(): { deviceId: string; runId: string }[] {
    return this.executed.flatMap((key) => splitSystemUpgradeKey(key) ?? []).filter(({ deviceId, runId }) => {
      const status = this.statusOf(deviceId, runId);
      if (status === null || !isTerminalSystemPhase(status.phase)) return true;
      return status.phase === "succeeded" && status.firstHeartbeat === undefined;
    });
  }

  /** The ledger of a device: an attempt that was accepted before is answered, and not executed. */
  async accept(): Promise<void> {
    const intent = this.pick(this.intents());
    if (intent === undefined) return;
    const key = systemUpgradeKey(intent.deviceId, intent.runId);
    if (this.executed.includes(key)) return;
    this.executed.push(key);
    await this.publish(systemStatus({ ...intent, attemptId: intent.runId }, "accepted"));
  }

  async progress(): Promise<void> {
    const running = this.pick(this.running());
    if (running === undefined) return;
    const attempt = { ...running, attemptId: running.runId };
    const status = this.statusOf(running.deviceId, running.runId);
    if (status?.phase === "succeeded") {
      await this.publish(systemStatus(attempt, "succeeded", { firstHeartbeat: FIRST_HEARTBEAT }));
    } else if (this.chance(0.1)) await this.publish(systemStatus(attempt, "failed"));
    else await this.publish(systemStatus(attempt, this.chance(0.7) ? "succeeded" : "upgrading"));
  }

  /** A status that is said again, or one of another attempt. */
  async babble(): Promise<void> {
    const key = this.pick(this.executed);
    const place = key === undefined ? null : splitSystemUpgradeKey(key);
    const status = place === null ? null : this.statusOf(place.deviceId, place.runId);
    if (status !== null) await this.publish(status);
  }

  async change(): Promise<void> {
    const id = this.pick(DEVICES) ?? "d0";
    const what = this.random();
    if (what < 0.25) this.groups.set(id, this.groups.get(id)?.length === 0 ? ["edge"] : []);
    else if (what < 0.5) this.groupsFail = !this.groupsFail;
    else if (what < 0.7) this.capable.set(id, this.chance(0.5));
    else {
      const store = await this.store();
      const device = await store.get("Device", id);
      const labels: Record<string, string> = this.chance(0.5) ? { canary: "true" } : {};
      if (device !== null) {
        await store.replace("Device", { name: id, labels, spec: device.spec }, device.metadata.resourceVersion);
      }
    }
  }

  async deleteRun(): Promise<void> {
    const index = Math.floor(this.random() * this.runIds.length);
    const runId = this.runIds[index];
    if (runId === undefined || this.deleted.has(runId)) return;
    this.deleted.add(runId);
    await (await this.store()).delete("TaskRun", `run-${index}`);
  }

  async operate(): Promise<void> {
    const index = Math.floor(this.random() * this.operators.length);
    const operator = this.operators[index];
    if (operator === undefined) return;
    if (this.chance(0.1)) {
      await operator.stop();
      this.operators[index] = await this.newOperator();
      return;
    }
    // One that does not look goes on with what it saw last.
    if (this.chance(0.8)) await operator.look((id) => this.capable.get(id) === true ? CAPABLE : ["https"]);
    if (this.chance(0.15)) operator.bus.loseNextAnswer = this.chance(0.5) ? "applied" : "not-applied";
    await operator.work();
    operator.bus.loseNextAnswer = null;
  }

  async operateTogether(): Promise<void> {
    this.isConcurrent = true;
    try {
      for (const operator of this.operators) {
        await operator.look((id) => this.capable.get(id) === true ? CAPABLE : ["https"]);
      }
      await Promise.all(this.operators.map((operator) => operator.work()));
    } finally {
      this.isConcurrent = false;
    }
  }

  async step(): Promise<string> {
    const die = this.random();
    const [what, work]: [string, () => Promise<void>] = die < 0.4
      ? ["operate", () => this.operate()]
      : die < 0.5
      ? ["operate together", () => this.operateTogether()]
      : die < 0.65
      ? ["accept", () => this.accept()]
      : die < 0.83
      ? ["progress", () => this.progress()]
      : die < 0.87
      ? ["babble", () => this.babble()]
      : die < 0.93
      ? ["change", () => this.change()]
      : die < 0.98
      ? ["time", () => this.clock.advance(Math.floor(this.random() * 20_000))]
      : die < 0.99
      ? ["create", () => this.createRun()]
      : ["delete", () => this.deleteRun()];
    await work();
    await settle();
    return what;
  }

  /** Everybody who is under way ends, the deadline passes, and the operators look until nothing changes any more. */
  async finish(): Promise<void> {
    this.groupsFail = false;
    await this.clock.advance((DEADLINE_S + 10) * 1_000);
    for (const { deviceId, runId } of this.running()) {
      await this.publish(systemStatus({ attemptId: runId, runId, deviceId }, "failed"));
    }
    for (let round = 0; round < 12; round++) {
      await this.clock.advance(2_000);
      await settle();
      for (const operator of this.operators) {
        await operator.look((id) => this.capable.get(id) === true ? CAPABLE : ["https"]);
        await operator.work();
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.operators.map((operator) => operator.stop()));
    this.invariants.close();
    await this.bus.close();
  }
}

async function live(seed: number): Promise<ModelWorld> {
  const world = new ModelWorld(seed);
  const log: string[] = [];
  try {
    await world.begin();
    for (let step = 0; step < STEPS && world.invariants.broken.length === 0; step++) log.push(await world.step());
    if (world.invariants.broken.length === 0) await world.finish();
    const [broken] = world.invariants.broken;
    if (broken !== undefined) throw broken;
    assertEquals(new Set(world.executed).size, world.executed.length, "a device executed an attempt twice");
    assertEquals(world.intents(), [], "intents are left");
    const history = await world.bus.bucket(BUCKETS.taskHistory);
    for (const runId of world.runIds) {
      if (world.deleted.has(runId)) continue;
      assert(world.invariants.endOf(runId) !== undefined, `run ${runId} has not ended`);
      assert(await history.get(runKey(runId)) !== null, `run ${runId} has no record`);
    }
    return world;
  } catch (error) {
    throw new Error(`TASK_MODEL_SEED=${seed}, after ${log.length} steps: ${log.slice(-12).join(", ")}`, {
      cause: error,
    });
  } finally {
    await world.close();
  }
}

Deno.test("tasks: the invariants hold in random lives of runs", async () => {
  const given = Deno.env.get("TASK_MODEL_SEED");
  const rounds = given === undefined ? Number(Deno.env.get("TASK_MODEL_ROUNDS") ?? 60) : 1;
  const ends = new Map<string, number>();
  let intents = 0;
  for (let round = 0; round < rounds; round++) {
    const world = await live(given === undefined ? freshSeed() : Number(given));
    intents += world.invariants.intentsWritten;
    for (const runId of world.runIds) {
      const end = world.invariants.endOf(runId);
      const name = end === undefined ? "none" : `${end.phase} ${end.reason}`;
      ends.set(name, (ends.get(name) ?? 0) + 1);
    }
  }
  if (given !== undefined) return;
  // Lives that all end alike show little.
  assert(intents > rounds, `${intents} intents in ${rounds} lives`);
  assert(ends.size >= 3, JSON.stringify([...ends]));
});
