/**
 * A client of a Unix socket that knows no protocol, and so can break it.
 *
 * @module
 */
import { type UpdaterResponse, updaterResponse } from "../../../contracts/updater_protocol.ts";

const encoder = new TextEncoder();

/** One connection. */
export class RawClient implements Disposable {
  readonly #conn: Deno.UnixConn;

  private constructor(conn: Deno.UnixConn) {
    this.#conn = conn;
  }

  static async connect(path: string): Promise<RawClient> {
    return new RawClient(await Deno.connect({ transport: "unix", path }));
  }

  async send(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === "string" ? encoder.encode(data) : data;
    for (let sent = 0; sent < bytes.length;) sent += await this.#conn.write(bytes.subarray(sent));
  }

  /** Shuts down the sending side. */
  halfClose(): Promise<void> {
    return this.#conn.closeWrite();
  }

  /** Everything until the server ends its side. */
  async receive(): Promise<Uint8Array> {
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    for (;;) {
      const buffer = new Uint8Array(16_384);
      const count = await this.#conn.read(buffer);
      if (count === null) return new Uint8Array(await new Blob(chunks).arrayBuffer());
      chunks.push(buffer.subarray(0, count));
    }
  }

  /** The response, checked against the contract. */
  async response(): Promise<UpdaterResponse> {
    return updaterResponse(JSON.parse(new TextDecoder().decode(await this.receive())), "");
  }

  [Symbol.dispose](): void {
    try {
      this.#conn.close();
    } catch {
      // The runtime closes what both sides have shut down.
    }
  }
}

/**
 * Sends everything, half-closes, and gives the response.
 *
 * @param path The socket
 * @param data The request
 */
export async function rawExchange(path: string, data: string | Uint8Array): Promise<UpdaterResponse> {
  using client = await RawClient.connect(path);
  // A server that refuses early may stop reading.
  await client.send(data).catch(() => {});
  await client.halfClose().catch(() => {});
  return await client.response();
}

/**
 * The code of a refusal, or `ok`.
 *
 * @param response A response
 */
export function codeOf(response: UpdaterResponse): string {
  return response.ok ? "ok" : response.error.code;
}
