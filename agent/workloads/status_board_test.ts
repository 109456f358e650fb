import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { BUCKET_SPECS, BUCKETS, deploymentStatusKey } from "../../contracts/buckets.ts";
import { decodeBytes } from "../../contracts/codec.ts";
import { type DeploymentStatus, deploymentStatus } from "../../contracts/deployment_status.ts";
import { busError } from "../../lib/bus/bus_error.ts";
import { silentLogger } from "../../lib/log.ts";
import { bytesOf, DEVICE_ID, uuidOf } from "../../tests/fakes/agent_samples.ts";
import { FakeClock } from "../../tests/fakes/fake_clock.ts";
import { MemoryBroker } from "../../tests/fakes/memory_bus.ts";
import { Blockers } from "../blockers.ts";
import type { DeploymentView } from "../core/deployment_view.ts";
import { StatusBoard } from "./status_board.ts";

const REREAD_MS = 600_000;
const A = uuidOf(1);
const READY: DeploymentView = {
  deploymentId: A,
  name: "web",
  generation: 3,
  phase: "ready",
  containers: [{ name: "app", state: "running" }],
};
const FAILED: DeploymentView = { ...READY, phase: "failed", reason: "StartFailed", error: "app: no" };

class World {
  readonly clock = new FakeClock();
  readonly broker = new MemoryBroker(() => this.clock.nowMs());
  readonly operator = this.broker.connect();
  readonly device = this.broker.connect();
  readonly blockers = new Blockers();
  hasBucket = true;
  readonly #ending = new AbortController();
  #running: Promise<void> = Promise.resolve();

  static async use(test: (world: World, board: StatusBoard) => Promise<void>): Promise<void> {
    const world = new World();
    await world.operator.ensureBuckets(BUCKET_SPECS, 1, 1);
    try {
      await test(world, world.begin());
    } finally {
      world.#ending.abort();
      await world.#running;
    }
  }

  begin(): StatusBoard {
    const board = new StatusBoard({
      deviceId: DEVICE_ID,
      bus: this.device,
      bind: () => {
        if (!this.hasBucket) return Promise.reject(busError("E_BUS_NO_BUCKET", "Cannot bind bucket deployment-status"));
        return this.device.bucket(BUCKETS.deploymentStatus);
      },
      blockers: this.blockers,
      rereadMs: REREAD_MS,
      clock: this.clock,
      log: silentLogger,
      turned: () => {},
    });
    this.#running = board.run(this.#ending.signal);
    return board;
  }

  async status(deploymentId = A): Promise<DeploymentStatus | null> {
    const bucket = await this.operator.bucket(BUCKETS.deploymentStatus);
    const entry = await bucket.get(deploymentStatusKey(DEVICE_ID, deploymentId));
    return entry === null ? null : decodeBytes(deploymentStatus, entry.value, 32_768);
  }

  async put(deploymentId: string, document: unknown): Promise<void> {
    const bucket = await this.operator.bucket(BUCKETS.deploymentStatus);
    await bucket.put(deploymentStatusKey(DEVICE_ID, deploymentId), bytesOf(document));
  }

  async revision(): Promise<number> {
    const bucket = await this.operator.bucket(BUCKETS.deploymentStatus);
    return (await bucket.get(deploymentStatusKey(DEVICE_ID, A)))?.revision ?? 0;
  }
}

function boardTest(name: string, test: (world: World, board: StatusBoard) => Promise<void>): void {
  Deno.test(`status board: ${name}`, () => World.use(test));
}

boardTest("writes what changes, once, and keeps since when it is so", async (world, board) => {
  board.show([READY], true);
  await world.clock.advance(1_000);
  const first = await world.status();
  assertEquals([first?.phase, first?.deviceId, first?.deploymentId, first?.generation], ["ready", DEVICE_ID, A, 3]);
  assertEquals(first?.since, first?.updatedAt);
  const revision = await world.revision();
  board.show([{ ...READY }], true);
  board.forget();
  await world.clock.advance(60_000);
  assertEquals(await world.revision(), revision);
  board.show([FAILED], true);
  await world.clock.advance(60_000);
  const failed = await world.status();
  assertEquals([failed?.phase, failed?.reason, failed?.error], ["failed", "StartFailed", "app: no"]);
  assert(failed !== null && first !== null && failed.since > first.since);
  board.show([{ ...FAILED, error: "app: still no" }], true);
  await world.clock.advance(60_000);
  const still = await world.status();
  assertEquals([still?.error, still?.since], ["app: still no", failed.since]);
  assert(still !== null && still.updatedAt > failed.updatedAt);
});

boardTest("a later life goes on with what stands there, and writes nothing anew", async (world, board) => {
  board.show([READY], true);
  await world.clock.advance(1_000);
  const [before, revision] = [await world.status(), await world.revision()];
  world.begin().show([READY], true);
  await world.clock.advance(60_000);
  assertEquals([await world.status(), await world.revision()], [before, revision]);
});

boardTest(
  "deletes the status of what is gone, also of an earlier life, when the desired state is whole",
  async (world, board) => {
    await world.put(uuidOf(2), { ...READY, schema: 1 });
    board.show([READY], false);
    await world.clock.advance(1_000);
    const bucket = await world.operator.bucket(BUCKETS.deploymentStatus);
    assert(await bucket.get(deploymentStatusKey(DEVICE_ID, uuidOf(2))) !== null);
    board.show([READY], true);
    await world.clock.advance(1_000);
    assertEquals(await bucket.get(deploymentStatusKey(DEVICE_ID, uuidOf(2))), null);
    board.show([], true);
    await world.clock.advance(1_000);
    assertEquals(await world.status(), null);
    // It may come back.
    board.show([READY], true);
    await world.clock.advance(1_000);
    assertEquals((await world.status())?.phase, "ready");
  },
);

boardTest("writes over what is not its own, and again what was lost", async (world, board) => {
  await world.put(A, { something: "else" });
  board.show([READY], true);
  await world.clock.advance(1_000);
  assertEquals((await world.status())?.phase, "ready");
  await (await world.operator.bucket(BUCKETS.deploymentStatus)).delete(deploymentStatusKey(DEVICE_ID, A));
  await world.clock.advance(2 * REREAD_MS);
  assertEquals((await world.status())?.phase, "ready");
});

boardTest("a bucket that is not there is said, waited for, and in nobody's way", async (world, board) => {
  world.hasBucket = false;
  board.show([READY], true);
  await world.clock.advance(60_000);
  assertStringIncludes(world.blockers.text() ?? "", "deployment-status: Cannot bind bucket deployment-status");
  world.hasBucket = true;
  await world.clock.advance(60_000);
  assertEquals(world.blockers.text(), undefined);
  assertEquals((await world.status())?.phase, "ready");
});
