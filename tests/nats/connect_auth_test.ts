import { assert, assertEquals } from "@std/assert";
import { nkeys } from "@nats-io/nats-core/internal";
import { SECRET_FILE_MAX_BYTES } from "../../contracts/limits.ts";
import type { BusAuth } from "../../lib/bus/bus_options.ts";
import { connectBus } from "../../lib/bus/connect.ts";
import { BusConnectError } from "../../lib/bus/connect_error.ts";
import type { BusStatus } from "../../lib/bus/port.ts";
import { startNatsServer } from "./nats_server.ts";
import { usersConfig } from "./server_config.ts";
import { testBusOptions } from "./test_bus.ts";
import { waitUntil } from "./wait_until.ts";

async function withServer(config: string, body: (outcome: (auth: BusAuth) => Promise<string>) => Promise<void>) {
  const server = await startNatsServer({ jetStream: false, config });
  const outcome = async (auth: BusAuth) => {
    try {
      await (await connectBus(testBusOptions(server, { auth }))).close();
      return "connected";
    } catch (error) {
      assert(error instanceof BusConnectError, String(error));
      return `${error.step} ${error.code}`;
    }
  };
  try {
    await body(outcome);
  } finally {
    await server.stop();
  }
}

async function withSecret(content: string, body: (file: string) => Promise<void>): Promise<void> {
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(file, content);
    await body(file);
  } finally {
    await Deno.remove(file).catch(() => {});
  }
}

const REFUSED = "nats E_BUS_AUTH";

Deno.test("user and password, given or from a file", async () => {
  await withServer(usersConfig([{ user: "device-1", password: " pass word " }]), async (outcome) => {
    const login = (password: BusAuth & { kind: "password" }) => outcome(password);
    const user = "device-1";
    assertEquals(await login({ kind: "password", user, password: { value: " pass word " } }), "connected");
    assertEquals(await login({ kind: "password", user, password: { value: "other" } }), REFUSED);
    assertEquals(await outcome({ kind: "none" }), REFUSED);
    for (const [content, expected] of [[" pass word ", "connected"], [" pass word \n", "connected"], ["x", REFUSED]]) {
      await withSecret(content as string, async (file) => {
        assertEquals(await login({ kind: "password", user, password: { file } }), expected);
      });
    }
  });
});

Deno.test("a token, given or from a file", async () => {
  await withServer('authorization: { token: "t0ken" }', async (outcome) => {
    assertEquals(await outcome({ kind: "token", token: { value: "t0ken" } }), "connected");
    assertEquals(await outcome({ kind: "token", token: { value: "t0ken " } }), REFUSED);
    await withSecret("t0ken\r\n", async (file) => {
      assertEquals(await outcome({ kind: "token", token: { file } }), "connected");
    });
  });
});

/** A credentials file as the tools write it. The server of the test looks at the nkey only. */
function credentialsFile(seed: string): string {
  return `-----BEGIN NATS USER JWT-----
eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.e30.c2ln
------END NATS USER JWT------

************************* IMPORTANT *************************
NKEY Seed printed below can be used to sign and prove identity.

-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------

*************************************************************
`;
}

Deno.test("a credentials file, good, of another key, and broken in every way", async () => {
  const [pair, stranger] = [nkeys.createUser(), nkeys.createUser()];
  const seedOf = (keyPair: typeof pair) => new TextDecoder().decode(keyPair.getSeed());
  const users = `authorization: { users: [{ nkey: "${pair.getPublicKey()}" }] }`;
  await withServer(users, async (outcome) => {
    for (
      const [content, expected] of [
        [credentialsFile(seedOf(pair)), "connected"],
        [credentialsFile(seedOf(pair)).replaceAll("\n", "\r\n"), "connected"],
        [credentialsFile(seedOf(stranger)), REFUSED],
        [credentialsFile("SUNOSEED"), REFUSED],
        ["", REFUSED],
        ["no credentials", REFUSED],
      ] as const
    ) {
      await withSecret(content, async (file) => {
        assertEquals(await outcome({ kind: "credentials", credentials: { file } }), expected, content);
      });
    }
    assertEquals(
      await outcome({ kind: "credentials", credentials: { value: credentialsFile(seedOf(pair)) } }),
      "connected",
    );
  });
});

Deno.test("a secret file up to its limit; a larger or missing one is a failure of the login", async () => {
  const pair = nkeys.createUser();
  const content = credentialsFile(new TextDecoder().decode(pair.getSeed()));
  await withServer(`authorization: { users: [{ nkey: "${pair.getPublicKey()}" }] }`, async (outcome) => {
    const login = (file: string) => outcome({ kind: "credentials", credentials: { file } });
    assertEquals(await login("/nonexistent/secret"), REFUSED);
    for (const [size, expected] of [[-1, "connected"], [0, "connected"], [1, REFUSED]] as const) {
      await withSecret(content.padEnd(SECRET_FILE_MAX_BYTES + size, "*"), async (file) => {
        assertEquals(await login(file), expected);
      });
    }
  });
});

Deno.test("a server that closes instead of answering a login is a failure at once", async () => {
  await withServer(usersConfig([{ user: "u", password: "p" }]), async (outcome) => {
    const startMs = performance.now();
    // Longer than the server's line of control.
    const password = { value: "p".repeat(8_192) };
    assertEquals(await outcome({ kind: "password", user: "u", password }), "nats E_BUS_UNREACHABLE");
    assert(performance.now() - startMs < 4_000);
  });
});

Deno.test("a secret is read again for each login, and a login that is refused for long does not end the bus", async () => {
  const user = (password: string) => usersConfig([{ user: "device-1", password }]);
  await withSecret("first", async (file) => {
    const server = await startNatsServer({ jetStream: false, config: user("first") });
    const auth: BusAuth = { kind: "password", user: "device-1", password: { file } };
    const bus = await connectBus(testBusOptions(server, { auth, bounds: { reconnectMaxMs: 30 } }));
    const seen: BusStatus["kind"][] = [];
    bus.onStatus(({ kind }) => void seen.push(kind));
    const refusals = () => seen.filter((kind) => kind === "auth-error").length;

    await server.restart({ config: user("second") });
    await waitUntil("many refusals", () => refusals() >= 20);
    assertEquals(bus.connected, false);
    // While the file is replaced it may be missing: the last secret stays in use.
    await Deno.remove(file);
    const before = refusals();
    await waitUntil("more refusals", () => refusals() >= before + 5);
    await Deno.writeTextFile(file, "second");
    await waitUntil("the reconnection", () => bus.connected);
    await bus.flush(5_000);

    await server.reload(user("third"));
    await waitUntil("the loss", () => !bus.connected);
    await Deno.writeTextFile(file, "third");
    await waitUntil("the reconnection", () => bus.connected);
    await bus.close();
    await server.stop();
  });
});

Deno.test("an idle bus that is being refused can be closed", async () => {
  const server = await startNatsServer({ jetStream: false, config: usersConfig([{ user: "u", password: "p" }]) });
  const auth: BusAuth = { kind: "password", user: "u", password: { value: "p" } };
  const bus = await connectBus(testBusOptions(server, { auth }));
  await server.restart({ config: usersConfig([{ user: "u", password: "other" }]) });
  await waitUntil("the loss", () => !bus.connected);
  await bus.close();
  assertEquals(bus.connected, false);
  await server.stop();
});
