import { assertEquals } from "@std/assert";
import type { BusEntry, KvBucket, WatchEvent } from "../../lib/bus/port.ts";
import { BUCKETS } from "../../contracts/buckets.ts";
import { silentLogger } from "../../lib/log.ts";
import { attemptOf, bytesOf, DEVICE_ID, uuidOf } from "../../tests/fakes/agent_samples.ts";
import { FakeClock, settle } from "../../tests/fakes/fake_clock.ts";
import { IntentWatch } from "./intent_watch.ts";

function entryOf(digit: number, revision: number): BusEntry {
  return { key: DEVICE_ID, value: bytesOf(attemptOf(digit)), revision, receivedAtMs: 0, deleted: false };
}

/** A bucket whose watch and reads are answered by hand. */
class HandBucket {
  readonly reads: ((entry: BusEntry | null) => void)[] = [];
  #events: WatchEvent[] = [];
  #wake = Promise.withResolvers<void>();
  fail = false;

  readonly port: KvBucket = {
    name: BUCKETS.upgradeIntent,
    get: () => new Promise((resolve) => this.reads.push(resolve)),
    put: () => Promise.reject(new Error("not used")),
    create: () => Promise.reject(new Error("not used")),
    update: () => Promise.reject(new Error("not used")),
    delete: () => Promise.reject(new Error("not used")),
    snapshot: () => Promise.reject(new Error("not used")),
    watch: (_filter, signal) => this.#watch(signal),
  };

  yield(event: WatchEvent): void {
    this.#events.push(event);
    this.#wake.resolve();
  }

  async *#watch(signal: AbortSignal): AsyncGenerator<WatchEvent> {
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    while (!signal.aborted) {
      if (this.fail) throw new Error("the watch is broken");
      const event = this.#events.shift();
      if (event !== undefined) yield event;
      else {
        this.#wake = Promise.withResolvers<void>();
        await Promise.race([this.#wake.promise, aborted]);
      }
    }
  }
}

async function watching(test: (bucket: HandBucket, watch: IntentWatch, clock: FakeClock) => Promise<void>) {
  const bucket = new HandBucket();
  const clock = new FakeClock();
  const options = { deviceId: DEVICE_ID, bucket: bucket.port, clock, log: silentLogger, onChange: () => {} };
  const watch = new IntentWatch(options);
  const ending = new AbortController();
  const running = watch.run(ending.signal);
  try {
    await test(bucket, watch, clock);
  } finally {
    ending.abort();
    await running;
  }
}

const idOf = ({ newest }: IntentWatch) => newest?.kind === "attempt" ? newest.attempt.attemptId : newest;

Deno.test("IntentWatch knows nothing until the watch is current", () =>
  watching(async (bucket, watch) => {
    await settle();
    assertEquals([watch.current, watch.newest], [false, null]);
    bucket.yield({ kind: "entry", entry: entryOf(1, 1) });
    bucket.yield({ kind: "current" });
    await settle();
    assertEquals([watch.current, idOf(watch)], [true, uuidOf(1)]);
  }));

Deno.test("IntentWatch: a read that is older than what the watch has told changes nothing", () =>
  watching(async (bucket, watch) => {
    bucket.yield({ kind: "current" });
    await settle();
    const reading = watch.reread();
    bucket.yield({ kind: "entry", entry: entryOf(2, 2) });
    await settle();
    bucket.reads[0]?.(entryOf(1, 1));
    await reading;
    assertEquals(idOf(watch), uuidOf(2));
    const again = watch.reread();
    bucket.reads[1]?.(null);
    await again;
    assertEquals(watch.newest, null);
  }));

Deno.test("IntentWatch: a key that does not come again after a loss is gone; a lower revision is news", () =>
  watching(async (bucket, watch) => {
    bucket.yield({ kind: "entry", entry: entryOf(1, 9) });
    bucket.yield({ kind: "current" });
    bucket.yield({ kind: "restarted" });
    await settle();
    assertEquals(idOf(watch), uuidOf(1));
    bucket.yield({ kind: "current" });
    await settle();
    assertEquals(watch.newest, null);
    bucket.yield({ kind: "entry", entry: entryOf(2, 1) });
    await settle();
    assertEquals(idOf(watch), uuidOf(2));
    bucket.yield({ kind: "entry", entry: { ...entryOf(2, 2), value: new Uint8Array(), deleted: true } });
    await settle();
    assertEquals(watch.newest, null);
  }));

Deno.test("IntentWatch begins a broken watch again", () =>
  watching(async (bucket, watch, clock) => {
    bucket.fail = true;
    bucket.yield({ kind: "current" });
    await clock.advance(60_000);
    bucket.fail = false;
    bucket.yield({ kind: "entry", entry: entryOf(1, 1) });
    bucket.yield({ kind: "current" });
    await clock.advance(60_000);
    assertEquals(idOf(watch), uuidOf(1));
  }));
