/**
 * A scripted updater behind a real Unix socket, framed as the protocol says: one request, half-closed, one answer.
 *
 * @module
 */
import { SOCKET_MESSAGE_MAX_BYTES } from "../../contracts/limits.ts";
import { readToEnd, writeAll } from "../../lib/unix/read_to_end.ts";
import { ScriptedUpdater } from "./scripted_updater.ts";

/** A scripted updater behind a real Unix socket. */
export class FakeUpdater {
  readonly path: string;
  readonly script: ScriptedUpdater;
  #listener: Deno.UnixListener | null = null;
  readonly #connections = new Set<Deno.UnixConn>();
  readonly #serving = new Set<Promise<void>>();
  #stopped = Promise.withResolvers<null>();

  /**
   * @param path The socket; its directory must exist
   * @param script What answers
   */
  constructor(path: string, script: ScriptedUpdater = new ScriptedUpdater()) {
    this.path = path;
    this.script = script;
  }

  /** Listens; a socket that an earlier life left is replaced. */
  start(): void {
    if (this.#listener !== null) return;
    try {
      Deno.removeSync(this.path);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    this.#stopped = Promise.withResolvers<null>();
    this.#listener = Deno.listen({ transport: "unix", path: this.path });
    this.#track(this.#accept(this.#listener));
  }

  /** Ends every connection without an answer and stops listening, as a killed updater does. */
  async stop(): Promise<void> {
    this.#listener?.close();
    this.#listener = null;
    this.#stopped.resolve(null);
    for (const connection of this.#connections) close(connection);
    await Promise.all(this.#serving);
  }

  #track(work: Promise<void>): void {
    this.#serving.add(work);
    work.finally(() => this.#serving.delete(work));
  }

  async #accept(listener: Deno.UnixListener): Promise<void> {
    try {
      for await (const connection of listener) this.#track(this.#serve(connection as Deno.UnixConn));
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource) && !(error instanceof Deno.errors.Interrupted)) throw error;
    }
  }

  async #serve(connection: Deno.UnixConn): Promise<void> {
    this.#connections.add(connection);
    const stopped = this.#stopped.promise;
    try {
      const request = await readToEnd(connection, SOCKET_MESSAGE_MAX_BYTES);
      const document = request === null ? null : parsed(request);
      // A client that has gone leaves nothing, or half a request.
      if (document === null) return;
      const answer = await Promise.race([this.script.answer(document), stopped]);
      if (answer !== null) await writeAll(connection, new TextEncoder().encode(JSON.stringify(answer)));
    } catch (error) {
      if (
        !(error instanceof Deno.errors.BrokenPipe || error instanceof Deno.errors.BadResource ||
          error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.Interrupted)
      ) throw error;
    } finally {
      this.#connections.delete(connection);
      close(connection);
    }
  }
}

function parsed(request: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(request));
  } catch {
    return null;
  }
}

function close(connection: Deno.UnixConn): void {
  try {
    connection.close();
  } catch {
    // Closed already.
  }
}
