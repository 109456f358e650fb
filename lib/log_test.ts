import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { FleetError } from "../contracts/errors.ts";
import {
  LOG_FIELD_DEPTH_MAX,
  LOG_FIELD_MAX_CHARS,
  LOG_FIELD_NODES_MAX,
  LOG_FIELDS_MAX,
  LOG_STATES_MAX,
} from "../contracts/limits.ts";
import { FakeClock } from "../tests/fakes/fake_clock.ts";
import { createLogger, type Logger, type LoggerOptions, silentLogger } from "./log.ts";

function recorder(
  options: LoggerOptions = {},
): { logger: Logger; lines: string[]; last: () => Record<string, unknown> } {
  const lines: string[] = [];
  const logger = createLogger({ sink: (line) => lines.push(line), clock: new FakeClock(), ...options });
  return { logger, lines, last: () => JSON.parse(lines.at(-1) ?? "{}") };
}

Deno.test("a JSON line has time, level, message and fields in this order", () => {
  const { logger, lines } = recorder();
  logger.child({ device: "pi-1" }).warn("updater is unreachable", { attempt: 3, ready: false, none: undefined });
  assertEquals(lines, [
    '{"time":"2026-06-01T00:00:00.000Z","level":"warn","message":"updater is unreachable","device":"pi-1","attempt":3,' +
    '"ready":false}',
  ]);
});

Deno.test("a human line is one readable line, and coloured only when asked", () => {
  const plain = recorder({ format: "human" });
  plain.logger.error("cannot start", { path: "/a b", code: "E_FS_ENOSPC", list: [1, 2], bad: "x\n\x1b[31m" });
  assertEquals(plain.lines, [
    String.raw`00:00:00.000 ERROR cannot start path="/a b" code=E_FS_ENOSPC list=[1,2] bad=x\u000a\u001b[31m`,
  ]);
  const coloured = recorder({ format: "human", colour: true });
  coloured.logger.info("ready");
  assertEquals(coloured.lines, ["\x1b[2m00:00:00.000\x1b[0m \x1b[32mINFO \x1b[0m ready"]);
});

Deno.test("lines below the level are left out", () => {
  const { logger, lines } = recorder({ level: "warn" });
  logger.debug("a");
  logger.info("b");
  logger.state("key", "c");
  assertEquals(lines.length, 0);
  logger.warn("d");
  logger.error("e");
  assertEquals(lines.length, 2);
  silentLogger.error("f");
});

Deno.test("errors become their text and code, other values their JSON form", () => {
  const { logger, last } = recorder();
  logger.info("values", {
    fleet: new FleetError("Cannot do it", { code: "E_IT", cause: new Error("why") }),
    plain: new Error("two\nlines"),
    big: 12n,
    nan: NaN,
    nothing: null,
    date: new Date(0),
    bytes: new Uint8Array(3),
    call: () => {},
    nested: { a: [1, { b: "c" }] },
  });
  assertEquals(last(), {
    time: "2026-06-01T00:00:00.000Z",
    level: "info",
    message: "values",
    fleet: "Cannot do it: why (E_IT)",
    plain: "two lines",
    big: "12",
    nan: "NaN",
    nothing: null,
    date: "1970-01-01T00:00:00.000Z",
    bytes: "<3 bytes>",
    call: "<function>",
    nested: { a: [1, { b: "c" }] },
  });
});

Deno.test("fields cannot replace time, level and message", () => {
  const { logger, last } = recorder();
  logger.info("real", { message: "forged", level: "forged", time: "forged" });
  assertEquals([last().message, last().level, last()._message], ["real", "info", "forged"]);
});

Deno.test("secrets do not reach a line", () => {
  const { logger, lines } = recorder();
  logger.info("connecting to nats://user:hunter2@host:4222", {
    password: "hunter2",
    natsToken: "hunter2",
    client_secret: "hunter2",
    Authorization: "Bearer hunter2",
    credentials: { file: "hunter2" },
    url: "nats://hunter2@host, tls://user:hunter2@host",
    error: new Error("refused by https://a:hunter2@host/x"),
    nested: [{ deep: { apiToken: "hunter2" } }],
    privateKey: "hunter2",
  });
  assertFalse(lines.join().includes("hunter2"), lines.join());
  assertStringIncludes(lines.join(), "nats://[redacted]@host:4222");
  assertStringIncludes(lines.join(), "https://[redacted]@host/x");
});

Deno.test("a URL without a login stays whole", () => {
  const { logger, last } = recorder();
  logger.info("fetching", { url: "oci://registry:5000/agent@sha256:00", mail: "someone@example.com" });
  assertEquals([last().url, last().mail], ["oci://registry:5000/agent@sha256:00", "someone@example.com"]);
});

for (
  const [chars, kept] of [
    [LOG_FIELD_MAX_CHARS - 1, LOG_FIELD_MAX_CHARS - 1],
    [LOG_FIELD_MAX_CHARS, LOG_FIELD_MAX_CHARS],
    [LOG_FIELD_MAX_CHARS + 1, LOG_FIELD_MAX_CHARS],
    [100 * LOG_FIELD_MAX_CHARS, LOG_FIELD_MAX_CHARS],
  ] as const
) {
  Deno.test(`a field of ${chars} characters keeps ${kept}`, () => {
    const { logger, last } = recorder();
    logger.info("x".repeat(chars), { text: "x".repeat(chars) });
    assertEquals([String(last().text).length, String(last().message).length], [kept, kept]);
    assertEquals(String(last().text).endsWith("…"), kept < chars);
  });
}

for (const count of [LOG_FIELDS_MAX - 1, LOG_FIELDS_MAX, LOG_FIELDS_MAX + 1]) {
  Deno.test(`of ${count} fields at most ${LOG_FIELDS_MAX} are logged`, () => {
    const { logger, last } = recorder();
    logger.info("many", Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, index])));
    assertEquals(Object.keys(last()).length - 3, Math.min(count, LOG_FIELDS_MAX));
  });
}

Deno.test("a huge, deep, cyclic or hostile object gives one bounded line", () => {
  const { logger, lines, last } = recorder();
  const cycle: Record<string, unknown> = { name: "cycle" };
  cycle["self"] = cycle;
  const row = Array.from({ length: 1_000 }, () => "x".repeat(5_000));
  const wide = Array.from({ length: 10_000 }, () => row);
  const hostile = {
    get broken(): string {
      throw new Error("no");
    },
  };
  logger.info("objects", { cycle, wide, hostile, proto: JSON.parse('{"__proto__":1}') });
  assert((lines[0]?.length ?? 0) < 4 * LOG_FIELD_MAX_CHARS, `${lines[0]?.length}`);
  assertEquals(last().hostile, { broken: "<unreadable>" });
  assertStringIncludes(lines[0] ?? "", '"__proto__":1');
});

for (const depth of [LOG_FIELD_DEPTH_MAX - 1, LOG_FIELD_DEPTH_MAX, LOG_FIELD_DEPTH_MAX + 1]) {
  Deno.test(`a value below ${depth} objects is ${depth <= LOG_FIELD_DEPTH_MAX ? "shown" : "named by its type"}`, () => {
    const { logger, lines } = recorder();
    let value: unknown = "bottom";
    for (let level = 0; level < depth; level++) value = { value };
    logger.info("deep", { value });
    assertEquals(lines.join().includes("bottom"), depth <= LOG_FIELD_DEPTH_MAX);
    assertEquals(lines.join().includes("<object>"), depth > LOG_FIELD_DEPTH_MAX);
  });
}

for (const nodes of [LOG_FIELD_NODES_MAX - 1, LOG_FIELD_NODES_MAX, LOG_FIELD_NODES_MAX + 1]) {
  Deno.test(`a field of ${nodes} values is ${nodes <= LOG_FIELD_NODES_MAX ? "whole" : "cut"}`, () => {
    const { logger, lines } = recorder();
    // The field itself, lists of up to 30 values in it, and the values are counted.
    const lists: number[][] = [];
    for (let left = nodes - 1; left > 0; left -= 31) {
      lists.push(Array.from({ length: Math.min(30, left - 1) }, () => 7));
    }
    logger.info("wide", { lists });
    assertEquals(lines.join().includes("…"), nodes > LOG_FIELD_NODES_MAX);
  });
}

Deno.test("state() logs once per change, with the number of what it left out", () => {
  const { logger, lines, last } = recorder();
  for (let index = 0; index < 5; index++) logger.state("nats", "NATS is unreachable", { error: "dns" }, "warn");
  assertEquals(lines.length, 1);
  logger.state("nats", "NATS is unreachable", { error: "refused" }, "warn");
  assertEquals([lines.length, last().suppressed, last().level], [2, 4, "warn"]);
  logger.state("nats", "NATS is connected");
  assertEquals([lines.length, last().suppressed, last().message], [3, undefined, "NATS is connected"]);
  logger.state("updater", "NATS is connected");
  assertEquals(lines.length, 4);
});

Deno.test("state() keeps the states of children with other fields apart", () => {
  const { logger, lines } = recorder();
  logger.child({ bucket: "a" }).state("watch", "following");
  logger.child({ bucket: "b" }).state("watch", "following");
  logger.child({ bucket: "a" }).state("watch", "following");
  assertEquals(lines.length, 2);
});

for (const others of [LOG_STATES_MAX - 2, LOG_STATES_MAX - 1, LOG_STATES_MAX]) {
  Deno.test(`state() ${others < LOG_STATES_MAX ? "remembers" : "forgets"} a state after ${others} others`, () => {
    const { logger, lines } = recorder();
    logger.state("first", "seen");
    for (let index = 0; index < others; index++) logger.state(`other-${index}`, "seen");
    const before = lines.length;
    logger.state("first", "seen");
    assertEquals(lines.length - before, others < LOG_STATES_MAX ? 0 : 1);
  });
}
