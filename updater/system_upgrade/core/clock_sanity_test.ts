import { assertEquals } from "@std/assert";
import { CLOCK_EARLIEST_MS, CLOCK_SKEW_MAX_MS } from "../../../contracts/limits.ts";
import { clockProblem, hasExpired } from "./clock_sanity.ts";

const NOW = Date.UTC(2026, 5, 1);
const SANE = { nowMs: NOW, ledgerClockMs: 0, createdAtMs: NOW };

Deno.test("clockProblem() at its limits: never set, set back, behind the attempt", () => {
  const told = (facts: Partial<typeof SANE>) => clockProblem({ ...SANE, ...facts }) !== undefined;
  const early = (nowMs: number) => ({ nowMs, createdAtMs: nowMs });
  assertEquals([CLOCK_EARLIEST_MS - 1, CLOCK_EARLIEST_MS, CLOCK_EARLIEST_MS + 1].map((at) => told(early(at))), [
    true,
    false,
    false,
  ]);
  const around = [-1, 0, 1].map((ms) => NOW + CLOCK_SKEW_MAX_MS + ms);
  assertEquals(around.map((ledgerClockMs) => told({ ledgerClockMs })), [false, false, true]);
  assertEquals(around.map((createdAtMs) => told({ createdAtMs })), [false, false, true]);
  assertEquals(told({ createdAtMs: 0 }), false);
});

Deno.test("hasExpired() goes by the later of clock and ledger", () => {
  assertEquals([-1, 0, 1].map((ms) => hasExpired(NOW + ms, SANE)), [true, true, false]);
  assertEquals(hasExpired(NOW + 5, { ...SANE, ledgerClockMs: NOW + 5 }), true);
});
