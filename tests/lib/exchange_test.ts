import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { FleetError } from "../../contracts/errors.ts";
import { SOCKET_MESSAGE_MAX_BYTES } from "../../contracts/limits.ts";
import { exchange } from "../../lib/unix/exchange.ts";
import { readToEnd, writeAll } from "../../lib/unix/read_to_end.ts";
import { FakeClock } from "../fakes/fake_clock.ts";

const BOUNDS = { timeoutMs: 10_000, maxBytes: SOCKET_MESSAGE_MAX_BYTES };

/** Runs a client against a server that handles one connection. */
async function withServer(
  serve: (connection: Deno.UnixConn) => Promise<void>,
  client: (path: string) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "exchange-" });
  const path = `${directory}/server.sock`;
  const listener = Deno.listen({ transport: "unix", path });
  const serving = listener.accept().then(async (connection) => {
    try {
      await serve(connection);
    } finally {
      connection.close();
    }
  });
  try {
    await client(path);
    await serving;
  } finally {
    listener.close();
    await Deno.remove(directory, { recursive: true });
  }
}

async function receive(connection: Deno.UnixConn): Promise<string> {
  return new TextDecoder().decode(await readToEnd(connection, SOCKET_MESSAGE_MAX_BYTES) ?? new Uint8Array());
}

function answer(text: string | Uint8Array): (connection: Deno.UnixConn) => Promise<void> {
  return async (connection) => {
    await receive(connection);
    await writeAll(connection, typeof text === "string" ? new TextEncoder().encode(text) : text);
  };
}

async function assertFails(call: () => Promise<unknown>, code: string): Promise<FleetError> {
  const error = await assertRejects(call, FleetError);
  assertEquals([error.code, error.failureClass], [code, "environment"], error.message);
  return error;
}

Deno.test("exchange() sends one document, half-closes, and returns the answer", async () => {
  let request = "";
  await withServer(async (connection) => {
    request = await receive(connection);
    await writeAll(connection, new TextEncoder().encode('{"answer":[1]}\n'));
  }, async (path) => {
    assertEquals(await exchange(path, { question: "größe" }, BOUNDS), { answer: [1] });
  });
  assertEquals(request, '{"question":"größe"}');
});

Deno.test("exchange() carries documents of the limit both ways", async () => {
  const document = "x".repeat(SOCKET_MESSAGE_MAX_BYTES - 2);
  await withServer(async (connection) => {
    await writeAll(connection, new TextEncoder().encode(await receive(connection)));
  }, async (path) => {
    assertEquals(await exchange(path, document, BOUNDS), document);
  });
});

Deno.test("exchange() refuses to send more than the limit", async () => {
  const document = "x".repeat(SOCKET_MESSAGE_MAX_BYTES - 1);
  await assertFails(() => exchange("/nowhere", document, BOUNDS), "E_SOCKET_TOO_LARGE");
});

for (const [excess, accepted] of [[-1, true], [0, true], [1, false], [100_000, false]] as const) {
  Deno.test(`exchange() ${accepted ? "takes" : "refuses"} an answer of the limit ${excess < 0 ? excess : `+${excess}`}`, () => {
    const maxBytes = 10_000;
    const text = JSON.stringify("y".repeat(maxBytes + excess - 2));
    return withServer(async (connection) => {
      // The client closes as soon as it has read too much, so the rest cannot be written.
      await answer(text)(connection).catch(() => {});
    }, async (path) => {
      const call = () => exchange(path, {}, { ...BOUNDS, maxBytes });
      if (accepted) assertEquals(await call(), JSON.parse(text));
      else assertEquals((await assertFails(call, "E_SOCKET_TOO_LARGE")).retry, "permanent");
    });
  });
}

Deno.test("exchange() says when nobody listens", async () => {
  const directory = await Deno.makeTempDir({ prefix: "exchange-" });
  const path = `${directory}/server.sock`;
  await assertFails(() => exchange(path, {}, BOUNDS), "E_SOCKET_UNREACHABLE");
  await Deno.writeTextFile(path, "");
  const error = await assertFails(() => exchange(path, {}, BOUNDS), "E_SOCKET_UNREACHABLE");
  assertEquals(error.retry, "transient");
  await Deno.remove(directory, { recursive: true });
});

Deno.test("exchange() says when the server closes without an answer", () =>
  withServer(async (connection) => {
    await receive(connection);
  }, async (path) => {
    await assertFails(() => exchange(path, {}, BOUNDS), "E_SOCKET_CLOSED");
  }));

Deno.test("exchange() says when the answer is cut short", () =>
  withServer(answer('{"half":'), async (path) => {
    await assertFails(() => exchange(path, {}, BOUNDS), "E_SOCKET_CLOSED");
  }));

Deno.test("exchange() returns an answer that was given before the request was read", () =>
  withServer(async (connection) => {
    await writeAll(connection, new TextEncoder().encode('{"refused":true}'));
    await connection.closeWrite();
  }, async (path) => {
    // Larger than the socket's buffers, so that writing fails when the server is gone.
    assertEquals(await exchange(path, "x".repeat(900_000), BOUNDS), { refused: true });
  }));

Deno.test("exchange() ends at its time limit", async () => {
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const clock = new FakeClock();
  await withServer(() => over, async (path) => {
    const call = exchange(path, {}, { timeoutMs: 15_000, maxBytes: 100, clock });
    call.catch(() => {});
    await clock.advance(14_999);
    await clock.advance(1);
    const error = await assertFails(() => call, "E_SOCKET_TIMEOUT");
    assert(error.message.endsWith("not done within 15000 ms"), error.message);
    end();
  });
});

Deno.test("exchange() ends when its signal aborts", async () => {
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  await withServer(() => over, async (path) => {
    const controller = new AbortController();
    const reason = new Error("drain");
    const call = exchange(path, {}, { ...BOUNDS, signal: controller.signal });
    call.catch(() => {});
    controller.abort(reason);
    assertStrictEquals(await assertRejects(() => call), reason);
    end();
  });
});
