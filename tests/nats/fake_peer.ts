/**
 * A TCP server that is no NATS server, or an odd one.
 *
 * @module
 */

/** What it does with each connection; the connection is closed when the returned promise settles. */
export type PeerBehaviour = (conn: Deno.Conn, ended: AbortSignal) => Promise<void>;

/** A running peer. */
export interface FakePeer {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts one on a free port.
 *
 * @param behaviour For each connection
 * @param hostname Address to listen on
 */
export function startFakePeer(behaviour: PeerBehaviour, hostname = "127.0.0.1"): FakePeer {
  const listener = Deno.listen({ hostname, port: 0 });
  const ended = new AbortController();
  const serving = (async () => {
    const connections: Promise<void>[] = [];
    for await (const conn of listener) {
      connections.push(behaviour(conn, ended.signal).catch(() => {}).finally(() => closeQuietly(conn)));
    }
    await Promise.all(connections);
  })();
  return {
    url: `nats://${hostname.includes(":") ? `[${hostname}]` : hostname}:${(listener.addr as Deno.NetAddr).port}`,
    async stop() {
      ended.abort();
      listener.close();
      await serving;
    },
  };
}

function closeQuietly(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // The behaviour has closed it.
  }
}

/** Says one thing and then nothing, until the peer stops or the other side closes. */
export function saying(text: string): PeerBehaviour {
  return async (conn, ended) => {
    if (text !== "") await conn.write(new TextEncoder().encode(text));
    await silence(conn, ended);
  };
}

async function silence(conn: Deno.Conn, ended: AbortSignal): Promise<void> {
  const stop = () => closeQuietly(conn);
  ended.addEventListener("abort", stop, { once: true });
  if (ended.aborted) stop();
  const buffer = new Uint8Array(4_096);
  while (await conn.read(buffer) !== null);
  ended.removeEventListener("abort", stop);
}

/** Speaks enough of the protocol to be logged in to: a greeting with members of the test's choice, and pongs. */
export function greetingWith(info: Record<string, unknown>): PeerBehaviour {
  return async (conn, ended) => {
    const greeting = { server_id: "x", version: "2.10.0", proto: 1, headers: true, max_payload: 1_048_576, ...info };
    const stop = () => closeQuietly(conn);
    ended.addEventListener("abort", stop, { once: true });
    const encoder = new TextEncoder();
    await conn.write(encoder.encode(`INFO ${JSON.stringify(greeting)}\r\n`));
    const buffer = new Uint8Array(4_096);
    for (let count = await conn.read(buffer); count !== null; count = await conn.read(buffer)) {
      const pings = new TextDecoder().decode(buffer.subarray(0, count)).split("PING\r\n").length - 1;
      await conn.write(encoder.encode("PONG\r\n".repeat(pings)));
    }
    ended.removeEventListener("abort", stop);
  };
}
