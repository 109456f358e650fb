import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import { FakeClock, settle } from "../../tests/fakes/fake_clock.ts";
import { WorkQueue, type WorkQueueOptions } from "./work_queue.ts";

/** A queue that runs until the test ends. */
async function withQueue(
  options: Partial<WorkQueueOptions> & Pick<WorkQueueOptions, "handle">,
  test: (queue: WorkQueue, clock: FakeClock) => Promise<void>,
): Promise<void> {
  const clock = new FakeClock();
  const ending = new AbortController();
  const queue = new WorkQueue({
    onError: () => {},
    concurrency: 2,
    retry: { minMs: 100, maxMs: 1_000 },
    sliceMs: 1_000_000,
    clock,
    random: () => 1,
    ...options,
  });
  const running = queue.run(ending.signal);
  try {
    await test(queue, clock);
  } finally {
    ending.abort();
    await running;
  }
}

Deno.test("a key that is added twice before it is handled is handled once", async () => {
  const handled: string[] = [];
  const handle = (key: string) => {
    handled.push(key);
    return Promise.resolve(null);
  };
  await withQueue({ handle }, async (queue) => {
    for (const key of ["a", "b", "a", "c", "b"]) queue.add(key);
    await settle();
    assertEquals(handled, ["a", "b", "c"]);
    assertEquals(queue.size, 0);
  });
});

Deno.test("a key that is added while it is handled is handled once more, and never twice at a time", async () => {
  let atOnce = 0;
  let handled = 0;
  const gate = Promise.withResolvers<void>();
  const handle = async () => {
    assertEquals(++atOnce, 1);
    handled++;
    if (handled === 1) await gate.promise;
    atOnce--;
    return null;
  };
  await withQueue({ handle }, async (queue) => {
    queue.add("a");
    await settle();
    for (let index = 0; index < 3; index++) queue.add("a");
    await settle();
    assertEquals([handled, queue.size], [1, 2]);
    gate.resolve();
    await settle();
    assertEquals([handled, queue.size], [2, 0]);
  });
});

Deno.test("at most the given number of handlers run", async () => {
  let atOnce = 0;
  let most = 0;
  const handle = async () => {
    most = Math.max(most, ++atOnce);
    await settle();
    atOnce--;
    return null;
  };
  await withQueue({ handle, concurrency: 3 }, async (queue) => {
    for (let index = 0; index < 20; index++) queue.add(`k${index}`);
    while (queue.size > 0) await settle();
    assertEquals(most, 3);
  });
});

Deno.test("a failed key is tried again after a growing pause, and its failures are forgotten", async () => {
  const atMs: number[] = [];
  const failures: number[] = [];
  let fails = 3;
  const clockOf: { clock?: FakeClock } = {};
  const handle = () => {
    atMs.push(clockOf.clock?.monotonicMs() ?? -1);
    return fails-- > 0 ? Promise.reject(new Error("away")) : Promise.resolve(null);
  };
  const onError = (_key: string, _error: unknown, count: number) => failures.push(count);
  await withQueue({ handle, onError }, async (queue, clock) => {
    clockOf.clock = clock;
    queue.add("a");
    await clock.advance(10_000);
    assertEquals(atMs, [0, 100, 300, 700]);
    assertEquals([failures, queue.failing], [[1, 2, 3], 0]);
    fails = 1;
    queue.add("a");
    await clock.advance(10_000);
    assertEquals(atMs.slice(4), [10_000, 10_100]);
  });
});

Deno.test("an event does not wait for the pause after a failure", async () => {
  let handled = 0;
  const handle = () => ++handled === 1 ? Promise.reject(new Error("away")) : Promise.resolve(null);
  await withQueue({ handle }, async (queue, clock) => {
    queue.add("a");
    await clock.advance(1);
    queue.add("a");
    await settle();
    assertEquals(handled, 2);
    await clock.advance(10_000);
    assertEquals(handled, 2);
  });
});

Deno.test("a handler says when to look again; an event in between replaces that", async () => {
  const atMs: number[] = [];
  const clockOf: { clock?: FakeClock } = {};
  const handle = () => {
    atMs.push(clockOf.clock?.monotonicMs() ?? -1);
    return Promise.resolve(1_000);
  };
  await withQueue({ handle }, async (queue, clock) => {
    clockOf.clock = clock;
    queue.add("a");
    await clock.advance(1_500);
    queue.add("a");
    await clock.advance(1_499);
    queue.addAfter("a", 5_000);
    await clock.advance(1);
    assertEquals(atMs, [0, 1_000, 1_500, 2_500]);
  });
});

Deno.test("while it is paused keys wait", async () => {
  const handled: string[] = [];
  const handle = (key: string) => {
    handled.push(key);
    return Promise.resolve(null);
  };
  await withQueue({ handle }, async (queue, clock) => {
    queue.pause();
    queue.add("a");
    queue.addAfter("b", 10);
    await clock.advance(100);
    assertEquals(handled, []);
    queue.resume();
    await settle();
    assertEquals(handled, ["a", "b"]);
  });
});

Deno.test("an end waits for the handlers that run and starts no other", async () => {
  const handled: string[] = [];
  const gate = Promise.withResolvers<void>();
  const ending = new AbortController();
  const queue = new WorkQueue({
    handle: async (key) => {
      await gate.promise;
      handled.push(key);
      return null;
    },
    onError: () => {},
    concurrency: 1,
    retry: { minMs: 1, maxMs: 1 },
    sliceMs: 1_000_000,
    clock: new FakeClock(),
  });
  const running = queue.run(ending.signal);
  queue.add("a");
  queue.add("b");
  await settle();
  ending.abort();
  gate.resolve();
  await running;
  assertEquals(handled, ["a"]);
});

Deno.test("handlers that never wait let messages in", async () => {
  let handled = 0;
  const handle = () => {
    const startMs = performance.now();
    while (performance.now() - startMs < 0.05);
    handled++;
    return Promise.resolve(null);
  };
  await withQueue({ handle, sliceMs: 5 }, async (queue) => {
    for (let index = 0; index < 4_000; index++) queue.add(`k${index}`);
    const startMs = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 1));
    assert(handled < 4_000, "a timer came before all of 200 ms of work was done");
    assertLessOrEqual(performance.now() - startMs, 150);
    while (queue.size > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  });
});
