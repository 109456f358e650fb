import { assert, assertEquals } from "@std/assert";
import { STATUS_TEXT_MAX_CHARS } from "./limits.ts";
import {
  ENVIRONMENT_STEPS,
  EXIT_ENVIRONMENT,
  formatReadinessStatus,
  READINESS_STEPS,
  readinessStepOf,
} from "./readiness.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("readiness: every step is written and read back, whatever the message", () => {
  for (const step of READINESS_STEPS) {
    for (const message of ["waits", "", "[nats] nested", "two\nlines", "x".repeat(2_000), "😀".repeat(600)]) {
      const text = formatReadinessStatus(step, message);
      assertEquals(readinessStepOf(text), step);
      // A supervisor may trim what it received.
      assertEquals(readinessStepOf(text.trim()), step);
      assert(text.length <= STATUS_TEXT_MAX_CHARS && text.isWellFormed() && !text.includes("\n"), text);
    }
  }
});

pure("readiness: a text exactly at the limit stays whole", () => {
  const start = "[nats] ".length;
  for (const chars of [STATUS_TEXT_MAX_CHARS - 1, STATUS_TEXT_MAX_CHARS]) {
    assertEquals(formatReadinessStatus("nats", "x".repeat(chars - start)).length, chars);
  }
  const cut = formatReadinessStatus("nats", "x".repeat(STATUS_TEXT_MAX_CHARS + 1 - start));
  assertEquals([cut.length, cut.at(-1)], [STATUS_TEXT_MAX_CHARS, "…"]);
});

pure("readinessStepOf() finds no step in any other text", () => {
  for (
    const text of ["", "ready", "[", "[]", "[unknown] x", " [nats] x", "nats: x", "[nats]x", "[NATS] x", "x [nats] y"]
  ) {
    assertEquals(readinessStepOf(text), undefined, text);
  }
});

pure("readiness: what says nothing about the binary is listed, what does is not", () => {
  for (const step of ENVIRONMENT_STEPS) assert(READINESS_STEPS.includes(step));
  for (const step of ["lock", "config", "updater", "version", "ready"] as const) {
    assert(!ENVIRONMENT_STEPS.has(step), step);
  }
  assertEquals(EXIT_ENVIRONMENT, 75);
});
