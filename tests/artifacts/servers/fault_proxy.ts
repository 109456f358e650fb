/**
 * A TCP proxy on a free port of the loopback interface that cuts or stalls connections at a byte or a chunk of what the
 * server sends, or hands everything on.
 *
 * @module
 */

/** What happens to one connection. */
export type Fault =
  | { readonly kind: "none" }
  /** Both sides are closed after so many bytes of the server. */
  | { readonly kind: "cut"; readonly afterBytes: number }
  /** Both sides are closed instead of handing the n-th chunk on, counted from 1. */
  | { readonly kind: "cut-chunk"; readonly chunk: number }
  /** Nothing is handed on after so many bytes, and nothing closed. */
  | { readonly kind: "stall"; readonly afterBytes: number };

/** Where connections go. */
export type FaultTarget = Deno.ConnectOptions | Deno.UnixConnectOptions;

/** A running proxy. */
export interface FaultProxy extends AsyncDisposable {
  readonly port: number;
  /** What happens to the next connections; the argument counts them from 1. */
  plan: (connection: number) => Fault;
  /** Connections so far. */
  connections: number;
  /** Faults that have happened. */
  injected: number;
}

const CHUNK_BYTES = 16 * 1_024;

function closeQuietly(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // The other direction has closed it.
  }
}

async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await conn.write(bytes.subarray(sent));
}

/** Hands on what one side sends until it ends, or until the fault. @returns whether the fault has happened */
async function pump(from: Deno.Conn, to: Deno.Conn, fault: Fault): Promise<boolean> {
  const buffer = new Uint8Array(CHUNK_BYTES);
  let sentBytes = 0;
  for (let chunk = 1;; chunk++) {
    const leftBytes = fault.kind === "cut" || fault.kind === "stall" ? fault.afterBytes - sentBytes : Infinity;
    if (leftBytes <= 0) return true;
    const count = await from.read(buffer);
    if (count === null) return false;
    if (fault.kind === "cut-chunk" && chunk >= fault.chunk) return true;
    const part = buffer.subarray(0, Math.min(count, leftBytes));
    await writeAll(to, part);
    sentBytes += part.length;
  }
}

/**
 * Starts a proxy.
 *
 * @param target Where connections go
 */
export function startFaultProxy(target: FaultTarget): FaultProxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const conversations = new Set<Promise<void>>();
  const stalled = Promise.withResolvers<void>();

  const converse = async (client: Deno.Conn): Promise<void> => {
    const fault = proxy.plan(++proxy.connections);
    const server = "path" in target ? await Deno.connect(target) : await Deno.connect(target);
    open.add(server);
    try {
      const upwards = pump(client, server, { kind: "none" }).catch(() => false);
      const happened = await pump(server, client, fault).catch(() => false);
      if (happened) proxy.injected++;
      // A stall ends with its client, or with the proxy.
      if (happened && fault.kind === "stall") await Promise.race([upwards, stalled.promise]);
    } finally {
      closeQuietly(client);
      closeQuietly(server);
    }
  };
  const accepting = (async () => {
    for await (const conn of listener) {
      open.add(conn);
      const conversation = converse(conn).catch(() => closeQuietly(conn)).finally(() =>
        conversations.delete(conversation)
      );
      conversations.add(conversation);
    }
  })();

  const proxy: FaultProxy = {
    port: listener.addr.port,
    plan: () => ({ kind: "none" }),
    connections: 0,
    injected: 0,
    async [Symbol.asyncDispose]() {
      listener.close();
      stalled.resolve();
      for (const conn of open) closeQuietly(conn);
      await accepting.catch(() => {});
      await Promise.all(conversations);
    },
  };
  return proxy;
}
