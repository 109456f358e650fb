/**
 * Carries the NATS protocol over a connection of the runtime itself.
 *
 * The client library's own transport goes through `node:net`, where a login that the server refuses can end the whole
 * process: the runtime emits `error` on a socket whose listeners are gone. It also checks the certificate of an IP
 * address against the name `localhost`. This one has neither, says which step of a connection failed, and ends an
 * attempt when it is told to.
 *
 * @module
 */
import { type ConnectionOptions, type Server, setTransportFactory, type Transport } from "@nats-io/nats-core/internal";
import { dial, type DialContext } from "./dial.ts";

/** Options that {@link BusTransport} understands beside those of the library. */
export interface BusConnectionOptions extends ConnectionOptions {
  readonly dialContext: DialContext;
  /** Called when a dial failed. */
  readonly onDialFailure: (error: unknown) => void;
  /** Called when the other side ended a connection: the library goes on waiting for the answer to a login. */
  readonly onEnded: () => void;
}

const READ_BUFFER_BYTES = 65_536;

class BusTransport implements Transport {
  readonly lang = "harmony-fleet";
  readonly version = "1";
  closeError?: Error;
  #conn: Deno.Conn | undefined;
  #encrypted = false;
  #greeting: Uint8Array | undefined;
  #done = false;
  #onEnded = () => {};
  #outbound: Uint8Array[] = [];
  #writing = false;
  readonly #dialing = new AbortController();
  readonly #closed = Promise.withResolvers<void | Error>();

  async connect(server: Server, options: ConnectionOptions): Promise<void> {
    const { dialContext, onDialFailure, onEnded } = options as BusConnectionOptions;
    this.#onEnded = onEnded;
    const signal = AbortSignal.any([this.#dialing.signal, dialContext.signal]);
    const attempt: DialContext = {
      ...dialContext,
      signal,
      get step() {
        return dialContext.step;
      },
      set step(step) {
        dialContext.step = step;
      },
    };
    try {
      const { conn, greeting, encrypted } = await dial(server, attempt);
      if (this.#done || signal.aborted) {
        conn.close();
        throw signal.reason;
      }
      dialContext.step = "nats";
      this.#conn = conn;
      this.#greeting = greeting;
      this.#encrypted = encrypted;
    } catch (error) {
      onDialFailure(error);
      throw error;
    }
  }

  get isClosed(): boolean {
    return this.#done;
  }

  isEncrypted(): boolean {
    return this.#encrypted;
  }

  async *[Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array> {
    const conn = this.#conn;
    if (conn === undefined) return;
    let problem: Error | undefined = new Error("the server broke the protocol");
    try {
      if (this.#greeting !== undefined) yield this.#greeting;
      const buffer = new Uint8Array(READ_BUFFER_BYTES);
      while (!this.#done) {
        const count = await conn.read(buffer);
        if (count === null) break;
        // Values that programs keep are views of what is yielded: a copy of the right size pins nothing else.
        yield buffer.slice(0, count);
      }
      problem = undefined;
    } catch (error) {
      problem = error instanceof Error ? error : new Error(String(error));
    } finally {
      if (!this.#done) this.#onEnded();
      this.#end(problem);
    }
  }

  send(frame: Uint8Array): void {
    if (this.#done) return;
    this.#outbound.push(frame);
    if (!this.#writing) void this.#write();
  }

  async #write(): Promise<void> {
    this.#writing = true;
    try {
      while (this.#outbound.length > 0 && this.#conn !== undefined && !this.#done) {
        const frames = this.#outbound;
        this.#outbound = [];
        for (const frame of frames) await this.#writeAll(this.#conn, frame);
      }
    } catch {
      // The reading side sees the same loss, and ends the connection.
    } finally {
      this.#writing = false;
    }
  }

  async #writeAll(conn: Deno.Conn, frame: Uint8Array): Promise<void> {
    for (let start = 0; start < frame.length;) start += await conn.write(frame.subarray(start));
  }

  close(error?: Error): Promise<void> {
    // The library waits for a close only of what was open; an attempt is ended without a word.
    if (this.#conn === undefined) this.discard();
    else this.#end(error);
    return Promise.resolve();
  }

  disconnect(): void {
    this.#end(undefined);
  }

  closed(): Promise<void | Error> {
    return this.#closed.promise;
  }

  discard(): void {
    this.#done = true;
    this.#dialing.abort();
    this.#closeConn();
  }

  #end(error: Error | undefined): void {
    if (this.#done) return this.#closeConn();
    this.#done = true;
    if (error !== undefined) this.closeError = error;
    this.#closeConn();
    this.#closed.resolve(error);
  }

  #closeConn(): void {
    const conn = this.#conn;
    this.#conn = undefined;
    this.#outbound = [];
    try {
      conn?.close();
    } catch {
      // Closed already by the other side.
    }
  }
}

/** Makes the library use this transport, for every connection of the process. Names are resolved by {@link dial}. */
export function installTransport(): void {
  setTransportFactory({ factory: () => new BusTransport() });
}
