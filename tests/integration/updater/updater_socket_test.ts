/** Real Unix sockets: every way in which a client can misbehave gets one typed answer, and harms nobody else. */
import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { FleetError } from "../../../contracts/errors.ts";
import {
  SOCKET_HANDLERS_MAX,
  SOCKET_LINGER_MS,
  SOCKET_MESSAGE_MAX_BYTES,
  SOCKET_REFUSALS_MAX,
  SOCKET_UPGRADE_WAITERS_MAX,
  UNIX_SOCKET_PATH_MAX_BYTES,
} from "../../../contracts/limits.ts";
import type { UpdaterResponse, UpdaterState } from "../../../contracts/updater_protocol.ts";
import type { Clock } from "../../../lib/deadline.ts";
import { createLogger } from "../../../lib/log.ts";
import { refuse } from "../../../updater/core/admission.ts";
import { updaterStateOf } from "../../../updater/core/projection.ts";
import { serveUpdaterSocket, type SocketBounds, type UpdaterHandlers } from "../../../updater/socket/server.ts";
import { FakeClock, settle } from "../../fakes/fake_clock.ts";
import { SAMPLE_RECORDS, sampleAttempt } from "../../fakes/upgrade_samples.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { codeOf, RawClient, rawExchange } from "./raw_client.ts";

const STATUS = JSON.stringify({ protocol: 1, request: "status" });
const ATTEMPT = { ...sampleAttempt(), memberOfANewerWriter: [1] };
const UPGRADE = JSON.stringify({ protocol: 1, request: "upgrade", attempt: ATTEMPT });
const STATE: UpdaterState = updaterStateOf(
  SAMPLE_RECORDS["activating (starting)"] ?? { transaction: null, history: [] },
  {
    updaterVersion: "1.2.3",
    capabilities: ["https"],
    journalUnit: "fleet-agent.service",
    admitting: false,
  },
);
const BUSY: UpdaterResponse = { ok: false, error: refuse("E_BUSY", "another attempt is under way", "environment") };

interface World {
  readonly path: string;
  readonly logged: string[];
  readonly stop: AbortController;
  readonly finished: Promise<void>;
}

interface WorldOptions {
  readonly handlers?: Partial<UpdaterHandlers>;
  readonly bounds?: SocketBounds;
  readonly clock?: Clock;
  readonly mode?: number;
  readonly gid?: number;
}

const IDLE: UpdaterHandlers = {
  status: () => Promise.resolve(STATE),
  upgrade: () => Promise.resolve(BUSY),
  systemUpgrade: () => Promise.resolve(BUSY),
};

async function withSocket(options: WorldOptions, test: (world: World) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "fleet-socket-" });
  const path = `${directory}/updater.sock`;
  const stop = new AbortController();
  const logged: string[] = [];
  const log = createLogger({ sink: (line) => logged.push(line), format: "json" });
  const { mode = 0o600, handlers = {}, ...rest } = options;
  const all: UpdaterHandlers = { ...IDLE, ...handlers };
  const { finished } = serveUpdaterSocket({ path, mode, handlers: all, log, signal: stop.signal, ...rest });
  try {
    await test({ path, logged, stop, finished });
  } finally {
    stop.abort();
    await finished;
    await Deno.remove(directory, { recursive: true });
  }
}

/** An upgrade that ends when it is told to. */
function heldUpgrades(): { handlers: Partial<UpdaterHandlers>; waiting: () => number; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<UpdaterResponse>();
  let waiting = 0;
  const upgrade = () => {
    waiting++;
    return promise;
  };
  return { handlers: { upgrade }, waiting: () => waiting, release: () => resolve({ ok: true, state: STATE }) };
}

Deno.test("status and upgrade are answered by one document each", () => {
  const seen: unknown[] = [];
  const upgrade: UpdaterHandlers["upgrade"] = (attempt, document) => {
    seen.push(attempt, document);
    return Promise.resolve({ ok: true, state: STATE });
  };
  return withSocket({ handlers: { upgrade } }, async ({ path }) => {
    assertEquals(await rawExchange(path, STATUS), { ok: true, state: STATE });
    assertEquals(await rawExchange(path, UPGRADE), { ok: true, state: STATE });
    // The digest is taken over the document as it came, members of newer writers included.
    assertEquals(seen, [sampleAttempt(), ATTEMPT]);
  });
});

Deno.test("a refusal of the handler comes through as it is", () =>
  withSocket({}, async ({ path }) => assertEquals(await rawExchange(path, UPGRADE), BUSY)));

Deno.test("each bad request gets one typed refusal, and the next valid one works", () =>
  withSocket({}, async ({ path }) => {
    const spaces = (count: number) => " ".repeat(count);
    const attempt = (members: object) =>
      JSON.stringify({ protocol: 1, request: "upgrade", attempt: { ...ATTEMPT, ...members } });
    const cases: readonly (readonly [string, string | Uint8Array, string])[] = [
      ["empty", "", "E_REQUEST_INVALID"],
      ["half a document", STATUS.slice(0, -5), "E_REQUEST_INVALID"],
      ["two documents", STATUS + STATUS, "E_REQUEST_INVALID"],
      ["two documents on two lines", `${STATUS}\n${STATUS}\n`, "E_REQUEST_INVALID"],
      ["trailing garbage", `${STATUS}x`, "E_REQUEST_INVALID"],
      ["not UTF-8", new Uint8Array([0x7b, 0xff, 0x7d]), "E_REQUEST_INVALID"],
      ["not an object", "[]", "E_REQUEST_INVALID"],
      ["no request", '{"protocol":1}', "E_REQUEST_INVALID"],
      ["an unknown request", '{"protocol":1,"request":"exec"}', "E_REQUEST_INVALID"],
      ["a newer protocol", '{"protocol":2,"request":"status"}', "E_REQUEST_INVALID"],
      ["deep nesting", "[".repeat(100_000), "E_REQUEST_INVALID"],
      ["a version with a path", attempt({ targetVersion: "../../bin/sh" }), "E_REQUEST_INVALID"],
      ["a plain http URL", attempt({ artifact: { ...ATTEMPT.artifact, url: "http://host/a" } }), "E_REQUEST_INVALID"],
      ["one byte below the limit", STATUS + spaces(SOCKET_MESSAGE_MAX_BYTES - STATUS.length - 1), "ok"],
      ["at the limit", STATUS + spaces(SOCKET_MESSAGE_MAX_BYTES - STATUS.length), "ok"],
      ["one byte over the limit", STATUS + spaces(SOCKET_MESSAGE_MAX_BYTES - STATUS.length + 1), "E_REQUEST_TOO_LARGE"],
      ["far over the limit", new Uint8Array(3 * SOCKET_MESSAGE_MAX_BYTES), "E_REQUEST_TOO_LARGE"],
    ];
    for (const [what, request, expected] of cases) {
      const response = await rawExchange(path, request);
      assertEquals(codeOf(response), expected, what);
      if (!response.ok) assertEquals([response.error.failureClass, response.error.retryable], ["policy", false], what);
      assertEquals(codeOf(await rawExchange(path, STATUS)), "ok", `after ${what}`);
    }
  }));

Deno.test("a refusal names the field", () =>
  withSocket({}, async ({ path }) => {
    const bad = { ...ATTEMPT, artifact: { ...ATTEMPT.artifact, sha256: "x" } };
    const response = await rawExchange(path, JSON.stringify({ protocol: 1, request: "upgrade", attempt: bad }));
    assert(!response.ok);
    assertEquals(response.error.field, "attempt.artifact.sha256");
    assertMatch(response.error.message, /^attempt\.artifact\.sha256: /);
  }));

Deno.test("a client that does not finish its request is told so, however it drips", () =>
  withSocket({ bounds: { readTimeoutMs: 100 } }, async ({ path }) => {
    using silent = await RawClient.connect(path);
    using dripping = await RawClient.connect(path);
    const answers = [silent.response(), dripping.response()];
    let answered = false;
    const all = Promise.all(answers).finally(() => answered = true);
    await waitUntil("both are answered", async () => {
      await dripping.send("{").catch(() => {});
      return answered;
    });
    assertEquals((await all).map(codeOf), ["E_REQUEST_TIMEOUT", "E_REQUEST_TIMEOUT"]);
    assertEquals(codeOf(await rawExchange(path, STATUS)), "ok");
  }));

Deno.test("the 33rd client is refused at once, and a handler is free again when one of the 32 leaves", () =>
  withSocket({}, async ({ path, logged }) => {
    using stack = new DisposableStack();
    const clients: RawClient[] = [];
    for (let index = 0; index < SOCKET_HANDLERS_MAX; index++) clients.push(stack.use(await RawClient.connect(path)));
    const refused = await rawExchange(path, STATUS);
    assert(!refused.ok);
    assertEquals([refused.error.code, refused.error.retryable], ["E_TOO_MANY_CLIENTS", true]);
    // One that has not sent anything is not waited for.
    using mute = await RawClient.connect(path);
    assertEquals(codeOf(await mute.response()), "E_TOO_MANY_CLIENTS");
    assertEquals(codeOf(await rawExchange(path, new Uint8Array(SOCKET_MESSAGE_MAX_BYTES))), "E_TOO_MANY_CLIENTS");
    assertEquals(logged.filter((line) => line.includes("clients are refused")).length, 1);
    clients[0]?.[Symbol.dispose]();
    await waitUntil("a handler is free", async () => codeOf(await rawExchange(path, STATUS)) === "ok");
    const last = clients.at(-1);
    await last?.send(STATUS);
    await last?.halfClose();
    assertEquals(last && codeOf(await last.response()), "ok");
  }));

Deno.test("32 clients that never finish keep nobody away for longer than the read bound", () =>
  withSocket({ bounds: { readTimeoutMs: 200 } }, async ({ path }) => {
    using stack = new DisposableStack();
    for (let index = 0; index < SOCKET_HANDLERS_MAX; index++) stack.use(await RawClient.connect(path));
    assertEquals(codeOf(await rawExchange(path, STATUS)), "E_TOO_MANY_CLIENTS");
    await waitUntil("a handler is free", async () => codeOf(await rawExchange(path, STATUS)) === "ok");
  }));

Deno.test("clients that wait for an upgrade leave half of the handlers for status", async () => {
  const held = heldUpgrades();
  await withSocket({ handlers: held.handlers }, async ({ path }) => {
    const waiting = Array.from({ length: SOCKET_UPGRADE_WAITERS_MAX }, () => rawExchange(path, UPGRADE));
    await waitUntil("all of them wait", () => held.waiting() === SOCKET_UPGRADE_WAITERS_MAX);
    assertEquals(codeOf(await rawExchange(path, UPGRADE)), "E_TOO_MANY_CLIENTS");
    for (let index = 0; index < SOCKET_HANDLERS_MAX; index++) {
      assertEquals(codeOf(await rawExchange(path, STATUS)), "ok");
    }
    held.release();
    assertEquals((await Promise.all(waiting)).map(codeOf), waiting.map(() => "ok"));
    assertEquals(codeOf(await rawExchange(path, UPGRADE)), "ok");
  });
});

Deno.test("clients that go away at any moment do no harm", async () => {
  const held = heldUpgrades();
  await withSocket({ handlers: held.handlers }, async ({ path, logged }) => {
    (await RawClient.connect(path))[Symbol.dispose]();
    for (const request of ["", STATUS.slice(0, 5), STATUS]) {
      using client = await RawClient.connect(path);
      await client.send(request);
    }
    {
      using client = await RawClient.connect(path);
      await client.send(UPGRADE);
      await client.halfClose();
      await waitUntil("the upgrade runs", () => held.waiting() === 1);
    }
    held.release();
    assertEquals(codeOf(await rawExchange(path, STATUS)), "ok");
    assertEquals(logged, []);
  });
});

Deno.test("answers that are late are refused, and the wait for an upgrade is ended", () => {
  const ended: unknown[] = [];
  const handlers: UpdaterHandlers = {
    status: () => new Promise(() => {}),
    systemUpgrade: () => Promise.resolve(BUSY),
    upgrade: (_attempt, _document, signal) =>
      new Promise(() => signal.addEventListener("abort", () => ended.push(signal.reason))),
  };
  return withSocket({ handlers, bounds: { statusTimeoutMs: 50, upgradeTimeoutMs: 60 } }, async ({ path }) => {
    for (const [request, bound] of [[STATUS, "50 ms"], [UPGRADE, "60 ms"]] as const) {
      const response = await rawExchange(path, request);
      assert(!response.ok);
      assertEquals([response.error.code, response.error.retryable], ["E_RESPONSE_TIMEOUT", true]);
      assert(response.error.message.includes(bound), response.error.message);
    }
    assertEquals(ended.length, 1);
  });
});

Deno.test("a handler that fails, and one that answers too much, are internal errors of one request", () => {
  let calls = 0;
  const status = () => {
    calls++;
    if (calls === 1) throw new TypeError("a bug");
    if (calls === 2) return Promise.resolve({ ...STATE, updaterVersion: "1".repeat(SOCKET_MESSAGE_MAX_BYTES) });
    return Promise.resolve(STATE);
  };
  return withSocket({ handlers: { status } }, async ({ path, logged }) => {
    const answers = [];
    for (let index = 0; index < 3; index++) answers.push(codeOf(await rawExchange(path, STATUS)));
    assertEquals(answers, ["E_INTERNAL", "E_INTERNAL", "ok"]);
    assertEquals(logged.length, 2);
    assert(logged[0]?.includes("a bug"));
  });
});

Deno.test("a client that does not take its response gives its handler back", async () => {
  const clock = new FakeClock();
  const large = { ...STATE, capabilities: ["x".repeat(SOCKET_MESSAGE_MAX_BYTES - 10_000)] };
  let calls = 0;
  const status = () => {
    calls++;
    return Promise.resolve(large);
  };
  await withSocket({ clock, handlers: { status } }, async ({ path }) => {
    using stack = new DisposableStack();
    for (let index = 0; index < SOCKET_HANDLERS_MAX; index++) {
      const client = stack.use(await RawClient.connect(path));
      await client.send(STATUS);
      await client.halfClose();
    }
    await waitUntil(
      "all handlers write",
      () => calls === SOCKET_HANDLERS_MAX && clock.sleeping === SOCKET_HANDLERS_MAX,
    );
    using refused = await RawClient.connect(path);
    assertEquals(codeOf(await refused.response()), "E_TOO_MANY_CLIENTS");
    refused[Symbol.dispose]();
    await clock.advance(10_000);
    await settle();
    using served = await RawClient.connect(path);
    await served.send(STATUS);
    await served.halfClose();
    assert((await served.receive()).length > SOCKET_MESSAGE_MAX_BYTES / 2);
  });
});

Deno.test("refused clients are answered up to a limit, more are closed without a word", async () => {
  const clock = new FakeClock();
  await withSocket({ clock }, async ({ path }) => {
    using stack = new DisposableStack();
    const connect = async () => stack.use(await RawClient.connect(path));
    for (let index = 0; index < SOCKET_HANDLERS_MAX; index++) await connect();
    for (let index = 0; index < SOCKET_REFUSALS_MAX; index++) {
      assertEquals(codeOf(await (await connect()).response()), "E_TOO_MANY_CLIENTS");
    }
    assertEquals((await (await connect()).receive()).length, 0);
    await clock.advance(SOCKET_LINGER_MS);
    assertEquals(codeOf(await (await connect()).response()), "E_TOO_MANY_CLIENTS");
  });
});

Deno.test("stopping answers everybody who waits and removes the socket", async () => {
  const held = heldUpgrades();
  await withSocket({ handlers: held.handlers }, async ({ path, stop, finished }) => {
    const upgrading = rawExchange(path, UPGRADE);
    await waitUntil("the upgrade runs", () => held.waiting() === 1);
    using idle = await RawClient.connect(path);
    const idling = idle.response();
    await rawExchange(path, STATUS);
    stop.abort();
    assertEquals([codeOf(await upgrading), codeOf(await idling)], ["E_STOPPING", "E_STOPPING"]);
    await finished;
    await assertRejects(() => Deno.lstat(path), Deno.errors.NotFound);
  });
});

Deno.test("the socket has its mode from the start, whatever the process's mask, and replaces a stale one", () => {
  const mask = Deno.umask();
  return withSocket({ mode: 0o660, gid: Deno.gid() ?? 0 }, async ({ path }) => {
    const info = await Deno.lstat(path);
    assertEquals(Deno.umask(), mask);
    assertEquals([(info.mode ?? 0) & 0o777, info.gid], [0o660, Deno.gid()]);
    const other = `${path}-other`;
    const stale = Deno.listen({ transport: "unix", path: `${path}-stale` });
    await Deno.rename(`${path}-stale`, other);
    stale.close();
    const stop = new AbortController();
    const log = createLogger({ sink: () => {} });
    const handlers = IDLE;
    const { finished } = serveUpdaterSocket({ path: other, mode: 0o600, handlers, log, signal: stop.signal });
    assertEquals(((await Deno.lstat(other)).mode ?? 0) & 0o777, 0o600);
    assertEquals(codeOf(await rawExchange(other, STATUS)), "ok");
    stop.abort();
    await finished;
  });
});

Deno.test("a path that is taken by a file, is too long or has no directory is an error that says so", async () => {
  const directory = await Deno.makeTempDir({ prefix: "fleet-socket-" });
  const handlers = IDLE;
  const log = createLogger({ sink: () => {} });
  const stop = new AbortController();
  const serve = (path: string) => serveUpdaterSocket({ path, mode: 0o600, handlers, log, signal: stop.signal });
  const pathOf = (sizeBytes: number) => `${directory}/`.padEnd(sizeBytes, "x");
  try {
    await Deno.writeTextFile(`${directory}/file`, "mine");
    const taken = assertThrows(() => serve(`${directory}/file`), FleetError, "no socket");
    assertEquals(taken.code, "E_SOCKET");
    assertEquals(await Deno.readTextFile(`${directory}/file`), "mine");
    assertThrows(() => serve(`${directory}/missing/updater.sock`), FleetError, "Cannot listen on");
    assertThrows(() => serve(pathOf(UNIX_SOCKET_PATH_MAX_BYTES + 1)), FleetError, "at most 107");
    const longest = [UNIX_SOCKET_PATH_MAX_BYTES, UNIX_SOCKET_PATH_MAX_BYTES - 1].map((size) => serve(pathOf(size)));
    stop.abort();
    await Promise.all(longest.map(({ finished }) => finished));
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

const PYTHON_CLIENT = `
import json, socket, sys
client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
client.settimeout(10)
client.connect(sys.argv[1])
client.sendall(json.dumps({"protocol": 1, "request": "status"}).encode())
client.shutdown(socket.SHUT_WR)
data = b""
while True:
    part = client.recv(4096)
    if not part:
        break
    data += part
print(json.loads(data)["state"]["updaterVersion"])
`;

async function hasPython(): Promise<boolean> {
  try {
    return (await new Deno.Command("python3", { args: ["-c", ""] }).output()).success;
  } catch {
    return false;
  }
}

Deno.test({
  name: "a client in another language is served",
  ignore: !await hasPython(),
  fn: () =>
    withSocket({}, async ({ path }) => {
      const { stdout, stderr } = await new Deno.Command("python3", { args: ["-c", PYTHON_CLIENT, path] }).output();
      assertEquals(new TextDecoder().decode(stderr), "");
      assertEquals(new TextDecoder().decode(stdout), "1.2.3\n");
    }),
});
