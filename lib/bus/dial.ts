/**
 * Opens one connection to one NATS server: name, TCP, greeting, TLS. Each step fails under its own name.
 *
 * @module
 */
import { isIP } from "node:net";
import { lookup } from "node:dns/promises";
import { errorText } from "../../contracts/errors.ts";
import { CA_BUNDLE_MAX_BYTES, NATS_INFO_MAX_BYTES } from "../../contracts/limits.ts";
import { BusConnectError, type ConnectStep } from "./connect_error.ts";

/** Where to. */
export interface DialTarget {
  readonly hostname: string;
  readonly port: number;
  /** Name that the certificate must have; the host's own when empty. */
  readonly tlsName: string;
}

/** What one attempt shares with the code that waits for it. */
export interface DialContext {
  /** Ends the attempt. */
  readonly signal: AbortSignal;
  readonly caFile: string | undefined;
  readonly tlsRequired: boolean;
  /** Where the attempt stands, so that a timeout can name its step. */
  step: ConnectStep;
}

/** An open connection, and the bytes that were read from it already. */
export interface Dialed {
  readonly conn: Deno.TcpConn | Deno.TlsConn;
  readonly greeting: Uint8Array;
  readonly encrypted: boolean;
}

interface Greeting {
  readonly bytes: Uint8Array;
  readonly offersTls: boolean;
}

/**
 * Connects. TLS is used whenever the server offers it, and the certificate is checked against the name or the IP
 * address that was dialed.
 *
 * @param target Where to
 * @param context Signal, TLS settings and progress
 * @throws {BusConnectError} with the step that failed
 */
export async function dial(target: DialTarget, context: DialContext): Promise<Dialed> {
  context.step = "dns";
  await resolveName(target.hostname, context.signal);
  context.step = "network";
  const conn = await openTcp(target, context.signal);
  const close = closeOnce(conn);
  context.signal.addEventListener("abort", close, { once: true });
  try {
    context.step = "nats";
    const greeting = await readGreeting(conn);
    context.step = "tls";
    if (!greeting.offersTls) {
      if (context.tlsRequired) throw new BusConnectError("tls", "Cannot connect to NATS: the server offers no TLS");
      return { conn, greeting: greeting.bytes, encrypted: false };
    }
    return { conn: await openTls(conn, target, context), greeting: greeting.bytes, encrypted: true };
  } catch (error) {
    close();
    throw error;
  } finally {
    context.signal.removeEventListener("abort", close);
  }
}

function closeOnce(conn: Deno.Conn): () => void {
  let open = true;
  return () => {
    if (!open) return;
    open = false;
    try {
      conn.close();
    } catch {
      // An upgrade to TLS has taken the connection over.
    }
  };
}

async function resolveName(hostname: string, signal: AbortSignal): Promise<void> {
  if (isIP(hostname) !== 0) return;
  const found = lookup(hostname, { all: true });
  // The system's resolver takes no signal; its late answer is of no interest.
  found.catch(() => {});
  const ended = Promise.withResolvers<never>();
  const onAbort = () => ended.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    await Promise.race([found, ended.promise]);
  } catch (cause) {
    throw new BusConnectError("dns", `Cannot connect to NATS: cannot resolve ${hostname}`, { cause });
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function openTcp({ hostname, port }: DialTarget, signal: AbortSignal): Promise<Deno.TcpConn> {
  try {
    const conn = await Deno.connect({ hostname, port, signal });
    conn.setNoDelay(true);
    return conn;
  } catch (cause) {
    throw new BusConnectError("network", `Cannot connect to NATS at ${hostname}:${port}: ${errorText(cause)}`, {
      cause,
    });
  }
}

/** Reads the server's `INFO` line. */
async function readGreeting(conn: Deno.TcpConn): Promise<Greeting> {
  const buffer = new Uint8Array(NATS_INFO_MAX_BYTES);
  let length = 0;
  while (!buffer.subarray(0, length).includes(0x0a)) {
    if (length === buffer.length) {
      throw new BusConnectError("nats", `Cannot connect to NATS: greeting is over ${NATS_INFO_MAX_BYTES} bytes`);
    }
    const count = await readOrFail(conn, buffer.subarray(length));
    if (count === null) throw new BusConnectError("nats", "Cannot connect to NATS: the server closed without greeting");
    length += count;
  }
  const bytes = buffer.slice(0, length);
  const text = new TextDecoder().decode(bytes);
  const json = /^INFO\s+(\{.*\})\s*\r?\n/i.exec(text)?.[1];
  try {
    const info: { tls_required?: unknown; tls_available?: unknown } = JSON.parse(json ?? "");
    return { bytes, offersTls: info.tls_required === true || info.tls_available === true };
  } catch (cause) {
    throw new BusConnectError("nats", "Cannot connect to NATS: the other side is no NATS server", { cause });
  }
}

async function readOrFail(conn: Deno.TcpConn, buffer: Uint8Array): Promise<number | null> {
  try {
    return await conn.read(buffer);
  } catch (cause) {
    throw new BusConnectError("network", `Cannot connect to NATS: ${errorText(cause)}`, { cause });
  }
}

async function openTls(conn: Deno.TcpConn, target: DialTarget, context: DialContext): Promise<Deno.TlsConn> {
  const hostname = target.tlsName !== "" ? target.tlsName : target.hostname;
  const caCerts = context.caFile === undefined ? [] : [await readCaFile(context.caFile)];
  let close = () => {};
  try {
    const tlsConn = await Deno.startTls(conn, { hostname, caCerts });
    close = closeOnce(tlsConn);
    context.signal.addEventListener("abort", close, { once: true });
    context.signal.throwIfAborted();
    await tlsConn.handshake();
    return tlsConn;
  } catch (cause) {
    close();
    throw new BusConnectError("tls", `Cannot connect to NATS at ${hostname}: TLS failed: ${errorText(cause)}`, {
      cause,
    });
  } finally {
    context.signal.removeEventListener("abort", close);
  }
}

async function readCaFile(path: string): Promise<string> {
  try {
    const { size } = await Deno.stat(path);
    if (size > CA_BUNDLE_MAX_BYTES) throw new Error(`${size} bytes, want at most ${CA_BUNDLE_MAX_BYTES}`);
    return await Deno.readTextFile(path);
  } catch (cause) {
    throw new BusConnectError("tls", `Cannot read CA file ${path}: ${errorText(cause)}`, { cause });
  }
}
