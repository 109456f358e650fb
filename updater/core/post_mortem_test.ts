import { assert, assertEquals } from "@std/assert";
import type { PostMortem } from "../../contracts/agent_upgrade.ts";
import { postMortem } from "../../contracts/agent_upgrade.ts";
import {
  POST_MORTEM_LINE_MAX_CHARS,
  POST_MORTEM_LINES_MAX,
  POST_MORTEM_MAX_BYTES,
  STATUS_TEXT_MAX_CHARS,
} from "../../contracts/limits.ts";
import { boundedPostMortem } from "./post_mortem.ts";

function found(overrides: Partial<PostMortem>): PostMortem {
  return { stage: "start", result: "exit-code", ...overrides };
}

Deno.test("boundedPostMortem() keeps what fits as it is", () => {
  const small = found({ exitCode: 1, statusText: "[nats] waits", lastLines: ["a line"], durationMs: 5 });
  assertEquals(boundedPostMortem(small), small);
});

Deno.test("boundedPostMortem() keeps the newest lines, at the limit, one below and one above", () => {
  for (const count of [POST_MORTEM_LINES_MAX - 1, POST_MORTEM_LINES_MAX, POST_MORTEM_LINES_MAX + 1]) {
    const lastLines = Array.from({ length: count }, (_, index) => `line ${index}`);
    assertEquals(boundedPostMortem(found({ lastLines })).lastLines, lastLines.slice(-POST_MORTEM_LINES_MAX));
  }
});

Deno.test("boundedPostMortem() cuts a line and a status at their limits", () => {
  for (const extra of [-1, 0, 1]) {
    const line = "x".repeat(POST_MORTEM_LINE_MAX_CHARS + extra);
    const kept = boundedPostMortem(found({ lastLines: [line] })).lastLines?.[0] ?? "";
    assertEquals(kept.length, Math.min(line.length, POST_MORTEM_LINE_MAX_CHARS));
    assertEquals(kept === line, extra <= 0);
    const statusText = "y".repeat(STATUS_TEXT_MAX_CHARS + extra);
    assertEquals(boundedPostMortem(found({ statusText })).statusText === statusText, extra <= 0);
  }
});

Deno.test("boundedPostMortem() is a legal document of at most 8 KiB, whatever was printed", () => {
  const hostile = "\u0000\u001b[2J\ud800€".repeat(400);
  const result = boundedPostMortem(found({
    result: hostile,
    signal: hostile,
    unit: hostile,
    invocationId: hostile,
    statusText: hostile,
    failedCheck: { name: hostile, reason: hostile },
    lastLines: Array.from({ length: 100 }, () => hostile),
  }));
  assertEquals(postMortem(result, ""), result);
  assert(new TextEncoder().encode(JSON.stringify(result)).byteLength <= POST_MORTEM_MAX_BYTES);
});
