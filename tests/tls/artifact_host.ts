/**
 * An HTTPS server for artifacts on a free port of the loopback interface. It speaks HTTP/1.1 by hand, because no
 * server library can be told to break off, to stall or to lie about a length.
 *
 * @module
 */

import { type ArtifactBehaviour, type PlannedResponse, planResponse } from "./artifact_behaviour.ts";
import type { ServerCertificate } from "./test_authority.ts";

/** One request as the host saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Bytes written after the header so far: what the client has taken, and what the sockets hold. */
  bodyBytesSent: number;
  /** Resolves when the connection has ended, whoever ended it. */
  readonly ended: Promise<void>;
}

/** Where and how a host listens. */
export interface ArtifactHostOptions {
  readonly certificate: ServerCertificate;
  /** An address of the loopback interface. @default `127.0.0.1` */
  readonly hostname?: string;
  /** The name in its URLs. @default the address */
  readonly urlHost?: string;
}

/** A running host. */
export interface ArtifactHost extends AsyncDisposable {
  readonly port: number;
  /** `https://host:port`, without a path. */
  readonly origin: string;
  /** Sets what a path, which begins with a slash, is answered with; gives its URL. */
  answer(path: string, behaviour: ArtifactBehaviour): string;
  /** Every request so far, oldest first. */
  readonly requests: readonly SeenRequest[];
  /** Connections that were accepted, those without a request included. */
  readonly connections: number;
  /** Stops listening and ends every connection. */
  close(): Promise<void>;
}

const HEAD_MAX_BYTES = 64 * 1_024;
const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** The request's header, or null when the client went away before its end. */
async function readHead(conn: Deno.Conn): Promise<string | null> {
  const buffer = new Uint8Array(HEAD_MAX_BYTES);
  let filled = 0;
  while (filled < buffer.length) {
    const count = await conn.read(buffer.subarray(filled));
    if (count === null) return null;
    filled += count;
    const text = decoder.decode(buffer.subarray(0, filled));
    if (text.includes("\r\n\r\n")) return text.slice(0, text.indexOf("\r\n\r\n"));
  }
  return null;
}

function parseHead(head: string): { method: string; path: string; headers: Map<string, string> } {
  const [first = "", ...lines] = head.split("\r\n");
  const [method = "", path = ""] = first.split(" ");
  const headers = new Map(lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  }));
  return { method, path, headers };
}

async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await conn.write(bytes.subarray(sent));
}

/** Reads until the client ends its side or the connection breaks. */
async function untilClientEnds(conn: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(1_024);
  while (await conn.read(buffer) !== null);
}

async function send(conn: Deno.Conn, response: PlannedResponse, seen: SeenRequest): Promise<void> {
  if (response.status !== 0) {
    const headers = [...response.headers, ["connection", "close"] as const];
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    await writeAll(conn, encoder.encode(`HTTP/1.1 ${response.status} Test\r\n${lines}\r\n`));
  }
  do {
    for (const part of response.body) {
      for (let from = 0; from < part.length; from += HEAD_MAX_BYTES) {
        const piece = part.subarray(from, from + HEAD_MAX_BYTES);
        await writeAll(conn, piece);
        seen.bodyBytesSent += piece.length;
      }
    }
  } while (response.end === "repeat-body");
  if (response.end === "stall") await untilClientEnds(conn);
}

/**
 * Starts a host.
 *
 * @param options Where and how it listens
 */
export function startArtifactHost(options: ArtifactHostOptions): ArtifactHost {
  const { certificate, hostname = "127.0.0.1" } = options;
  const urlHost = options.urlHost ?? (hostname.includes(":") ? `[${hostname}]` : hostname);
  const listener = Deno.listenTls({ hostname, port: 0, cert: certificate.cert, key: certificate.key });
  const { port } = listener.addr as Deno.NetAddr;
  const origin = `https://${urlHost}:${port}`;
  const behaviours = new Map<string, ArtifactBehaviour>();
  const requests: SeenRequest[] = [];
  const open = new Map<Deno.Conn, Promise<void>>();
  let connections = 0;

  const converse = async (conn: Deno.Conn): Promise<void> => {
    const ended = Promise.withResolvers<void>();
    try {
      const head = await readHead(conn);
      if (head === null) return;
      const { method, path, headers } = parseHead(head);
      const earlier = requests.filter((request) => request.path === path).length;
      const seen: SeenRequest = { method, path, headers, bodyBytesSent: 0, ended: ended.promise };
      requests.push(seen);
      const behaviour = behaviours.get(path) ?? { kind: "status", status: 404 };
      await send(conn, planResponse(behaviour, headers, earlier), seen);
    } catch {
      // A client that refuses the certificate or breaks off is what these tests are about.
    } finally {
      try {
        conn.close();
      } catch {
        // The host was closed meanwhile.
      }
      open.delete(conn);
      ended.resolve();
    }
  };
  const accepting = (async () => {
    for (;;) {
      try {
        const conn = await listener.accept();
        connections++;
        open.set(conn, converse(conn));
      } catch (error) {
        if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
      }
    }
  })();

  const close = async (): Promise<void> => {
    listener.close();
    await accepting;
    const conversations = [...open.entries()];
    for (const [conn] of conversations) conn.close();
    await Promise.all(conversations.map(([, conversation]) => conversation));
  };
  return {
    port,
    origin,
    answer: (path, behaviour) => {
      behaviours.set(path, behaviour);
      return `${origin}${path}`;
    },
    requests,
    get connections() {
      return connections;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
