import { assertEquals } from "@std/assert";
import { FleetError } from "../../contracts/errors.ts";
import { silentLogger } from "../../lib/log.ts";
import { FakeClock } from "../../tests/fakes/fake_clock.ts";
import { runWatchLoop } from "./watch_loop.ts";

async function* yields(events: readonly number[], end: "error" | "end"): AsyncGenerator<number> {
  for (const event of events) yield event;
  if (end === "error") {
    await Promise.reject(new FleetError("Cannot watch: away", { code: "E_BUS_UNREACHABLE", retry: "transient" }));
  }
}

Deno.test("a source that fails or ends is opened again until the signal aborts", async () => {
  const clock = new FakeClock();
  const ending = new AbortController();
  const sources = [() => yields([1, 2], "error"), () => yields([3], "end"), () => yields([4], "error")];
  const told: (number | string)[] = [];
  const loop = runWatchLoop({
    name: "numbers",
    open: () => {
      const source = sources.shift();
      if (source === undefined) {
        ending.abort();
        return yields([], "end");
      }
      return source();
    },
    onReopen: () => told.push("again"),
    onEvent: (event) => told.push(event),
    retry: { minMs: 100, maxMs: 100 },
    log: silentLogger,
    clock,
  }, ending.signal);
  await clock.advanceUntil(loop, 1_000);
  assertEquals(told, [1, 2, "again", 3, "again", 4, "again"]);
});

Deno.test("a pause ends at once when the signal aborts", async () => {
  const clock = new FakeClock();
  const ending = new AbortController();
  const loop = runWatchLoop({
    name: "nothing",
    open: () => Promise.reject(new Error("away")),
    onReopen: () => {},
    onEvent: () => {},
    retry: { minMs: 1_000_000, maxMs: 1_000_000 },
    log: silentLogger,
    clock,
  }, ending.signal);
  await clock.advance(0);
  ending.abort();
  await loop;
});
