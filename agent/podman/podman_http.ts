/**
 * HTTP to Podman's Unix socket, bounded in time and bytes.
 *
 * @module
 */
import { type IncomingMessage, request as httpRequest } from "node:http";
import { PODMAN_ANSWER_MAX_BYTES, PODMAN_REQUEST_TIMEOUT_MS } from "../../contracts/limits.ts";
import { withDeadline } from "../../lib/deadline.ts";
import { engineError } from "./engine_error.ts";

/** One request. */
export interface PodmanRequest {
  /** What it is for, for messages: "list containers". */
  readonly what: string;
  readonly method: "GET" | "POST" | "DELETE";
  /** Below the version: `/libpod/containers/json`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Default {@link PODMAN_REQUEST_TIMEOUT_MS}. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** One answer. */
export interface PodmanAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * Version of the API that is asked for: every Podman from 4.0 answers to it, and the paths mean the same in 5
 * (measured with 4.3.1 and 5.4.2).
 */
const API_VERSION = "v4.0.0";

/** Speaks to one socket. */
export class PodmanHttp {
  readonly #socketPath: string;
  readonly #timeoutMs: number;

  /**
   * @param socketPath The socket
   * @param timeoutMs Time for a request that names none, in ms
   */
  constructor(socketPath: string, timeoutMs = PODMAN_REQUEST_TIMEOUT_MS) {
    this.#socketPath = socketPath;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Asks and reads the whole answer.
   *
   * @throws {FleetError} `E_ENGINE_UNREACHABLE`, `E_ENGINE_TIMEOUT`, `E_ENGINE_ANSWER`
   */
  async ask(request: PodmanRequest): Promise<PodmanAnswer> {
    return await this.#within(request, async (signal) => {
      const answer = await this.#send(request, signal);
      const parts: string[] = [];
      let bytes = 0;
      const decoder = new TextDecoder();
      for await (const chunk of answer as AsyncIterable<Uint8Array>) {
        bytes += chunk.byteLength;
        if (bytes > PODMAN_ANSWER_MAX_BYTES) {
          answer.destroy();
          throw engineError(
            "E_ENGINE_ANSWER",
            `Cannot ${request.what}: the answer has more than ${PODMAN_ANSWER_MAX_BYTES} bytes`,
          );
        }
        parts.push(decoder.decode(chunk, { stream: true }));
      }
      return { status: answer.statusCode ?? 0, body: parts.join("") + decoder.decode() };
    });
  }

  /**
   * Asks for an answer of many lines and hands them on as they come.
   *
   * @param request The request
   * @param onLine Called for each line, without its end
   * @param maxLineBytes Bytes of a line; of a longer one the rest is dropped
   * @returns the status; the lines of a refusal are handed on too
   */
  async lines(request: PodmanRequest, onLine: (line: string) => void, maxLineBytes: number): Promise<number> {
    return await this.#within(request, async (signal) => {
      const answer = await this.#send(request, signal);
      const decoder = new TextDecoder();
      let rest = "";
      for await (const chunk of answer as AsyncIterable<Uint8Array>) {
        const pieces = (rest + decoder.decode(chunk, { stream: true })).split("\n");
        rest = (pieces.pop() ?? "").slice(0, maxLineBytes);
        for (const piece of pieces) onLine(piece.slice(0, maxLineBytes));
      }
      if (rest !== "") onLine(rest);
      return answer.statusCode ?? 0;
    });
  }

  async #within<T>(request: PodmanRequest, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal, timeoutMs = this.#timeoutMs, what } = request;
    try {
      return await withDeadline(timeoutMs, what, work, {
        code: "E_ENGINE_TIMEOUT",
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw asEngineError(what, error);
    }
  }

  #send({ body, method, path, query }: PodmanRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const search = query === undefined ? "" : `?${new URLSearchParams(query)}`;
    return new Promise((resolve, reject) => {
      const sent = httpRequest({
        socketPath: this.#socketPath,
        method,
        path: `/${API_VERSION}${path}${search}`,
        headers: {
          host: "podman",
          connection: "close",
          ...(text === undefined
            ? {}
            : { "content-type": "application/json", "content-length": new TextEncoder().encode(text).byteLength }),
        },
        // A connection of its own: one that is kept could be closed by Podman just when it is used again.
        agent: false,
      }, (answer) => {
        signal.addEventListener("abort", () => answer.destroy(signal.reason), { once: true });
        resolve(answer);
      });
      sent.on("error", reject);
      signal.addEventListener("abort", () => sent.destroy(signal.reason), { once: true });
      if (signal.aborted) return void sent.destroy(signal.reason);
      sent.end(text);
    });
  }
}

function asEngineError(what: string, error: unknown): Error {
  if (error instanceof Error && "code" in error && String(error.code).startsWith("E_ENGINE_")) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const why = code === "ENOENT"
    ? "there is no socket"
    : code === "ECONNREFUSED"
    ? "nobody listens at the socket"
    : code === "EACCES" || code === "EPERM"
    ? "the socket may not be opened"
    : "the connection broke";
  return engineError("E_ENGINE_UNREACHABLE", `Cannot ${what}: ${why}`, error);
}
