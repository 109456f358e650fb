/**
 * An HTTP proxy that forwards connections (`CONNECT`), on a free port of the loopback interface.
 *
 * @module
 */

/** A running proxy. */
export interface ForwardingProxy extends AsyncDisposable {
  readonly port: number;
  /** `host:port` of every connection that was asked for. */
  readonly asked: string[];
  /** Whether it answers with a refusal. */
  refusing: boolean;
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

async function readHead(conn: Deno.Conn): Promise<string> {
  const buffer = new Uint8Array(8_192);
  for (let filled = 0; filled < buffer.length;) {
    const count = await conn.read(buffer.subarray(filled));
    if (count === null) break;
    filled += count;
    const text = decoder.decode(buffer.subarray(0, filled));
    if (text.endsWith("\r\n\r\n")) return text;
  }
  return "";
}

/** Starts a proxy. */
export function forwardingProxy(): ForwardingProxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();
  const conversations = new Set<Promise<void>>();

  const converse = async (conn: Deno.Conn): Promise<void> => {
    const target = /^CONNECT (\S+):(\d+) /.exec(await readHead(conn));
    proxy.asked.push(`${target?.[1]}:${target?.[2]}`);
    if (proxy.refusing || target === null) {
      await conn.write(encoder.encode("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n"));
      return;
    }
    const upstream = await Deno.connect({ hostname: target[1] ?? "", port: Number(target[2]) });
    open.add(upstream);
    await conn.write(encoder.encode("HTTP/1.1 200 Connection Established\r\n\r\n"));
    await Promise.race([
      conn.readable.pipeTo(upstream.writable, { preventCancel: true }),
      upstream.readable.pipeTo(conn.writable, { preventCancel: true }),
    ]);
  };
  const accepting = (async () => {
    for await (const conn of listener) {
      open.add(conn);
      const conversation = converse(conn).catch(() => {}).finally(() => conversations.delete(conversation));
      conversations.add(conversation);
    }
  })();

  const proxy: ForwardingProxy = {
    port: listener.addr.port,
    asked: [],
    refusing: false,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const conn of open) {
        try {
          conn.close();
        } catch {
          // Its stream has closed it.
        }
      }
      await accepting;
      await Promise.all(conversations);
    },
  };
  return proxy;
}
