import { assert, assertEquals, assertRejects } from "@std/assert";
import { CA_BUNDLE_MAX_BYTES } from "../../contracts/limits.ts";
import type { BusOptions } from "../../lib/bus/bus_options.ts";
import { connectBus } from "../../lib/bus/connect.ts";
import { BusConnectError } from "../../lib/bus/connect_error.ts";
import type { Bus } from "../../lib/bus/port.ts";
import { createTestAuthority, type IssueOptions, type ServerCertificate } from "../tls/test_authority.ts";
import { greetingWith, startFakePeer } from "./fake_peer.ts";
import { type NatsServer, startNatsServer } from "./nats_server.ts";
import { tlsConfig } from "./server_config.ts";
import { testBusOptions } from "./test_bus.ts";
import { waitUntil } from "./wait_until.ts";

interface TlsWorld {
  readonly server: NatsServer;
  readonly caFile: string;
  readonly directory: string;
  /** Options for a URL with this host. */
  options(host: string): BusOptions;
  close(): Promise<void>;
}

async function writeCertificate(directory: string, { cert, key }: ServerCertificate): Promise<void> {
  await Deno.writeTextFile(`${directory}/cert.pem`, cert);
  await Deno.writeTextFile(`${directory}/key.pem`, key);
}

async function openTlsWorld(issue: IssueOptions & { readonly expired?: boolean }): Promise<TlsWorld> {
  const authority = await createTestAuthority();
  const directory = await Deno.makeTempDir();
  const caFile = `${directory}/ca.pem`;
  await Deno.writeTextFile(caFile, authority.caCert);
  await writeCertificate(
    directory,
    issue.expired === true ? await authority.issueExpired() : await authority.issue(issue),
  );
  const config = tlsConfig({ certFile: `${directory}/cert.pem`, keyFile: `${directory}/key.pem` });
  const server = await startNatsServer({ jetStream: false, config });
  return {
    server,
    caFile,
    directory,
    options: (host) => testBusOptions({ url: `tls://${host}:${server.port}` }, { tls: { caFile } }),
    async close() {
      await server.stop();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

/** `connected`, or the step and code of the failure. */
async function outcome(options: BusOptions): Promise<string> {
  let bus: Bus;
  try {
    bus = await connectBus(options);
  } catch (error) {
    assert(error instanceof BusConnectError, String(error));
    return `${error.step} ${error.code}`;
  }
  await bus.close();
  return "connected";
}

async function inWorld(issue: IssueOptions & { readonly expired?: boolean }, body: (world: TlsWorld) => Promise<void>) {
  const world = await openTlsWorld(issue);
  try {
    await body(world);
  } finally {
    await world.close();
  }
}

const REFUSED = "tls E_BUS_UNREACHABLE";

Deno.test("TLS: a name is checked against the names of the certificate", async () => {
  await inWorld({ names: ["localhost"] }, async ({ options }) => {
    assertEquals(await outcome(options("localhost")), "connected");
  });
  await inWorld({ names: ["other.example"] }, async ({ options }) => {
    assertEquals(await outcome(options("localhost")), REFUSED);
  });
});

Deno.test("TLS: an IP address is checked against the addresses of the certificate, never against localhost", async () => {
  await inWorld({ names: ["127.0.0.1"] }, async ({ options }) => {
    assertEquals(await outcome(options("127.0.0.1")), "connected");
  });
  await inWorld({ names: ["localhost"] }, async ({ options }) => {
    assertEquals(await outcome(options("127.0.0.1")), REFUSED);
  });
  await inWorld({ names: ["127.0.0.2"] }, async ({ options }) => {
    assertEquals(await outcome(options("127.0.0.1")), REFUSED);
  });
});

Deno.test("TLS: a certificate that has expired, or that another authority made, is refused", async () => {
  await inWorld({ expired: true }, async ({ options }) => {
    assertEquals(await outcome(options("localhost")), REFUSED);
  });
  const stranger = await createTestAuthority("stranger");
  await inWorld({}, async ({ options, caFile }) => {
    await Deno.writeTextFile(caFile, stranger.caCert);
    assertEquals(await outcome(options("localhost")), REFUSED);
    await Deno.writeTextFile(caFile, "no certificate");
    assertEquals(await outcome(options("localhost")), REFUSED);
    await Deno.remove(caFile);
    assertEquals(await outcome(options("localhost")), REFUSED);
  });
});

Deno.test("TLS: a CA file up to its limit", async () => {
  await inWorld({}, async ({ options, caFile }) => {
    const pem = await Deno.readTextFile(caFile);
    for (const [size, expected] of [[-1, "connected"], [0, "connected"], [1, REFUSED]] as const) {
      await Deno.writeTextFile(caFile, pem.padEnd(CA_BUNDLE_MAX_BYTES + size, "\n"));
      assertEquals(await outcome(options("localhost")), expected, `${size}`);
    }
  });
});

Deno.test("TLS: a server without it is refused where it is wanted, and used where it is not", async () => {
  const peer = startFakePeer(greetingWith({}));
  const port = new URL(peer.url).port;
  assertEquals(await outcome(testBusOptions({ url: `tls://127.0.0.1:${port}` })), REFUSED);
  assertEquals(await outcome(testBusOptions(peer, { tls: { required: true } })), REFUSED);
  assertEquals(await outcome(testBusOptions(peer)), "connected");
  await peer.stop();
});

Deno.test("TLS: a server that has it is asked for it, and its certificate counts, also by a nats:// URL", async () => {
  await inWorld({ names: ["localhost"] }, async ({ server }) => {
    assertEquals(await outcome(testBusOptions({ url: `nats://localhost:${server.port}` })), REFUSED);
  });
});

Deno.test("TLS: the CA bundle is read again for each connection", async () => {
  await inWorld({ names: ["localhost"] }, async ({ options, server, caFile, directory }) => {
    const bus = await connectBus(options("localhost"));
    const next = await createTestAuthority("next");
    await writeCertificate(directory, await next.issue({ names: ["localhost"] }));
    await server.restart();
    await waitUntil("the loss", () => !bus.connected);
    await Deno.writeTextFile(caFile, next.caCert);
    await waitUntil("the reconnection", () => bus.connected);
    await bus.flush(5_000);
    await bus.close();
  });
});

Deno.test("TLS: a peer that breaks off in the handshake is a failure of that step", async () => {
  const peer = startFakePeer(async (conn) => {
    await conn.write(new TextEncoder().encode('INFO {"server_id":"x","version":"2.10.0","tls_required":true}\r\n'));
    await conn.read(new Uint8Array(4_096));
  });
  await assertRejects(() => connectBus(testBusOptions(peer)), BusConnectError, "TLS failed");
  assertEquals(await outcome(testBusOptions(peer)), REFUSED);
  await peer.stop();
});
