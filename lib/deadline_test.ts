import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { FleetError } from "../contracts/errors.ts";
import { TIMER_MAX_MS } from "../contracts/limits.ts";
import { FakeClock } from "../tests/fakes/fake_clock.ts";
import { backoffMs, systemClock, withDeadline } from "./deadline.ts";

Deno.test("withDeadline() returns what the work returns and leaves no timer", async () => {
  const clock = new FakeClock();
  assertEquals(await withDeadline(100, "wait", () => Promise.resolve(7), { clock }), 7);
  assertEquals(clock.sleeping, 0);
});

Deno.test("withDeadline() passes on what the work throws", async () => {
  const clock = new FakeClock();
  const failure = new Error("broken");
  const caught = await assertRejects(() => withDeadline(100, "wait", () => Promise.reject(failure), { clock }));
  assertStrictEquals(caught, failure);
  assertEquals(clock.sleeping, 0);
});

for (const [elapsedMs, expired] of [[99, false], [100, true], [101, true]] as const) {
  Deno.test(`withDeadline() of 100 ms ${expired ? "rejects" : "waits"} after ${elapsedMs} ms`, async () => {
    const clock = new FakeClock();
    let aborted = false;
    const { promise, resolve } = Promise.withResolvers<string>();
    const result = withDeadline(100, "ask the registry", (signal) => {
      signal.addEventListener("abort", () => aborted = true);
      return promise;
    }, { clock, code: "E_ASK" });
    result.catch(() => {});
    await clock.advance(elapsedMs);
    assertEquals(aborted, expired);
    resolve("answer");
    if (expired) {
      const error = await assertRejects(
        () => result,
        FleetError,
        "Cannot ask the registry: not done within 100 ms",
      );
      assertEquals([error.code, error.retry, error.failureClass], ["E_ASK", "transient", "environment"]);
    } else assertEquals(await result, "answer");
  });
}

Deno.test("withDeadline() ends with the outer signal's reason, and ignores what the work does after that", async () => {
  const clock = new FakeClock();
  const outer = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const result = withDeadline(100, "wait", () => promise, { clock, signal: outer.signal });
  const reason = new Error("shutting down");
  outer.abort(reason);
  assertStrictEquals(await assertRejects(() => result), reason);
  reject(new Error("late"));
  await clock.advance(0);
  assertEquals(clock.sleeping, 0);
});

Deno.test("withDeadline() does not start the work when the outer signal has aborted", async () => {
  let started = false;
  const work = () => {
    started = true;
    return Promise.resolve();
  };
  await assertRejects(() => withDeadline(100, "wait", work, { signal: AbortSignal.abort(new Error("over")) }));
  assert(!started);
});

Deno.test("systemClock.sleep() waits, and stops at an abort without leaving a timer", async () => {
  const startMs = systemClock.monotonicMs();
  await systemClock.sleep(5);
  assert(systemClock.monotonicMs() - startMs >= 4);
  const controller = new AbortController();
  const reason = new Error("enough");
  const sleeping = systemClock.sleep(TIMER_MAX_MS + 1, controller.signal);
  controller.abort(reason);
  assertStrictEquals(await assertRejects(() => sleeping), reason);
  assertStrictEquals(await assertRejects(() => systemClock.sleep(5, controller.signal)), reason);
});

Deno.test("backoffMs() doubles its ceiling up to the maximum", () => {
  const options = { minMs: 100, maxMs: 1_000, random: () => 1 - Number.EPSILON };
  assertEquals([0, 1, 2, 3, 4, 5, 5_000].map((failures) => backoffMs(failures, options)), [
    100,
    200,
    400,
    800,
    1_000,
    1_000,
    1_000,
  ]);
});

Deno.test("backoffMs() spreads pauses over the whole range", () => {
  const options = { minMs: 100, maxMs: 1_000 };
  assertEquals(backoffMs(3, { ...options, random: () => 0 }), 0);
  assertEquals(backoffMs(3, { ...options, random: () => 0.5 }), 400);
  for (let index = 0; index < 100; index++) {
    const pauseMs = backoffMs(2, options);
    assert(pauseMs >= 0 && pauseMs <= 400);
  }
});
