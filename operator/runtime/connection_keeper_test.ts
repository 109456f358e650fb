import { assertEquals } from "@std/assert";
import { FleetError } from "../../contracts/errors.ts";
import { BROKER_CLOCK_REFRESH_MS } from "../../contracts/limits.ts";
import { silentLogger } from "../../lib/log.ts";
import { FakeClock, settle } from "../../tests/fakes/fake_clock.ts";
import { MemoryBroker, type MemoryBus } from "../../tests/fakes/memory_bus.ts";
import { BrokerTime } from "./broker_time.ts";
import { ConnectionKeeper } from "./connection_keeper.ts";

interface World {
  readonly clock: FakeClock;
  readonly bus: MemoryBus;
  readonly time: BrokerTime;
  /** What happened, in order. */
  readonly told: string[];
  /** When set, ensuring the buckets fails. */
  fails: boolean;
}

async function withKeeper(test: (world: World) => Promise<void>): Promise<void> {
  const clock = new FakeClock();
  const bus = new MemoryBroker(() => clock.nowMs()).connect({ nowMs: () => clock.nowMs() });
  const world: World = { clock, bus, time: new BrokerTime(bus, clock), told: [], fails: false };
  const ending = new AbortController();
  const keeper = new ConnectionKeeper({
    bus,
    time: world.time,
    ensureBuckets: () => {
      world.told.push("ensure");
      if (!world.fails) return Promise.resolve();
      return Promise.reject(new FleetError("Cannot create bucket: full", { code: "E_BUS_FULL", retry: "transient" }));
    },
    onReady: () => world.told.push("ready"),
    onAway: () => world.told.push("away"),
    retry: { minMs: 100, maxMs: 100 },
    clock,
    log: silentLogger,
  });
  const running = keeper.run(ending.signal);
  try {
    await settle();
    await test(world);
  } finally {
    ending.abort();
    await running;
    await bus.close();
  }
}

Deno.test("buckets are ensured at once and every minute, and reconciliation begins once", () =>
  withKeeper(async ({ clock, told, time }) => {
    assertEquals([told, time.watchedSinceMs], [["ensure", "ready"], clock.nowMs()]);
    await clock.advance(2 * BROKER_CLOCK_REFRESH_MS);
    assertEquals(told, ["ensure", "ready", "ensure", "ensure"]);
  }));

Deno.test("an outage pauses reconciliation; when it ends everything is looked at anew", () =>
  withKeeper(async ({ bus, clock, told, time }) => {
    told.length = 0;
    bus.disconnect();
    await settle();
    assertEquals([told, time.watchedSinceMs], [["away"], null]);
    await clock.advance(5_000);
    bus.reconnect();
    await settle();
    assertEquals([told, time.watchedSinceMs], [["away", "ensure", "ready"], clock.nowMs()]);
  }));

Deno.test("buckets that cannot be made are tried again, and nothing is reconciled until they are", () =>
  withKeeper(async (world) => {
    const { bus, clock, told } = world;
    bus.disconnect();
    world.fails = true;
    told.length = 0;
    bus.reconnect();
    await settle();
    assertEquals(told, ["ensure"]);
    world.fails = false;
    await clock.advance(100);
    assertEquals(told, ["ensure", "ensure", "ready"]);
  }));

Deno.test("a broker that does not tell its time is worked with all the same", () =>
  withKeeper(async ({ bus, clock, told }) => {
    bus.disconnect();
    told.length = 0;
    bus.silent = true;
    bus.reconnect();
    await clock.advance(100);
    assertEquals(told, ["ensure", "ready"]);
  }));
