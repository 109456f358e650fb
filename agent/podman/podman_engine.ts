/**
 * Podman by its API at a Unix socket, versions 4 and 5 (`/libpod/` paths).
 *
 * @module
 */
import { type Decoded, type Decoder, integer, list, map, nullable, object, optional } from "../../contracts/codec.ts";
import { isFleetError } from "../../contracts/errors.ts";
import {
  CONTAINER_STOP_MAX_S,
  PODMAN_PULL_LINE_MAX_BYTES,
  PODMAN_PULL_TIMEOUT_MS,
  PODMAN_REQUEST_TIMEOUT_MS,
} from "../../contracts/limits.ts";
import { engineError, refusalOf } from "./engine_error.ts";
import { type PodmanAnswer, PodmanHttp, type PodmanRequest } from "./podman_http.ts";
import type { ContainerEngine, ContainerPhase, ContainerSpec, EngineContainer } from "./port.ts";
import { engineReference, specGenerator } from "./spec_generator.ts";

/** What Podman says is taken as it is, up to the bounds of the whole answer. */
const words: Decoder<string> = (value, path) => {
  if (typeof value === "string") return value;
  throw engineError("E_ENGINE_ANSWER", `Cannot read an answer of Podman: ${path} is no text`);
};
const seconds = integer(Number.MIN_SAFE_INTEGER);
const listed = object({
  Id: words,
  Names: list(words, 16, 1),
  Labels: optional(nullable(map(words, words, 4_096))),
  State: words,
  StartedAt: seconds,
  ExitedAt: seconds,
  ExitCode: seconds,
});

const PHASES: Readonly<Record<string, ContainerPhase>> = {
  configured: "created",
  created: "created",
  initialized: "created",
  running: "running",
  exited: "exited",
  stopped: "exited",
};

function containerOf(value: Decoded<typeof listed>): EngineContainer {
  const state = value.State.toLowerCase();
  return {
    id: value.Id,
    name: (value.Names[0] ?? "").replace(/^\//, ""),
    labels: value.Labels ?? {},
    phase: PHASES[state] ?? "other",
    state,
    startedAtS: Math.max(0, value.StartedAt),
    exitedAtS: Math.max(0, value.ExitedAt),
    exitCode: value.ExitCode,
  };
}

/** Podman at a Unix socket. */
export class PodmanEngine implements ContainerEngine {
  readonly #http: PodmanHttp;
  readonly #pullTimeoutMs: number;

  /**
   * @param socketPath The socket
   * @param bounds Lower times, for tests
   */
  constructor(
    socketPath: string,
    bounds: { readonly requestTimeoutMs?: number; readonly pullTimeoutMs?: number } = {},
  ) {
    this.#http = new PodmanHttp(socketPath, bounds.requestTimeoutMs);
    this.#pullTimeoutMs = bounds.pullTimeoutMs ?? PODMAN_PULL_TIMEOUT_MS;
  }

  async version(signal?: AbortSignal): Promise<string> {
    const answer = await this.#ask({ what: "reach Podman", method: "GET", path: "/libpod/version" }, [200], signal);
    const { Version } = this.#decoded("reach Podman", object({ Version: words }), answer);
    return Version;
  }

  async list(labels: Readonly<Record<string, string | null>>, signal?: AbortSignal): Promise<EngineContainer[]> {
    const what = "list containers";
    const label = Object.entries(labels).map(([key, value]) => value === null ? key : `${key}=${value}`);
    const query = { all: "true", filters: JSON.stringify({ label }) };
    const answer = await this.#ask({ what, method: "GET", path: "/libpod/containers/json", query }, [200], signal);
    return this.#decoded(what, list(listed, Number.MAX_SAFE_INTEGER), answer).map(containerOf);
  }

  async hasImage(image: string, signal?: AbortSignal): Promise<boolean> {
    const path = `/libpod/images/${encodeURIComponent(engineReference(image))}/exists`;
    const { status } = await this.#ask({ what: `look for ${image}`, method: "GET", path }, [204, 404], signal);
    return status === 204;
  }

  async pull(image: string, signal: AbortSignal): Promise<void> {
    const what = `pull ${image}`;
    // Podman answers 200 before it knows, and says at the end of the stream what came of it.
    let outcome: string | null = "Podman ended the answer without saying what came of it";
    const query = { reference: engineReference(image), policy: "always" };
    const request = {
      what,
      method: "POST",
      path: "/libpod/images/pull",
      query,
      timeoutMs: this.#pullTimeoutMs,
      signal,
    } as const;
    const status = await this.#http.lines(request, (line) => {
      const said = pullLine(line);
      if (said !== undefined) outcome = said.error;
    }, PODMAN_PULL_LINE_MAX_BYTES);
    if (status !== 200 && outcome === null) outcome = `Podman answers ${status}`;
    if (outcome !== null) throw engineError("E_ENGINE_PULL", `Cannot ${what}: ${outcome}`);
  }

  async create(spec: ContainerSpec): Promise<string> {
    const what = `create ${spec.name}`;
    const request = { what, method: "POST", path: "/libpod/containers/create", body: specGenerator(spec) } as const;
    return this.#decoded(what, object({ Id: words }), await this.#ask(request, [201])).Id;
  }

  async start(id: string): Promise<void> {
    await this.#ask({ what: `start ${id.slice(0, 12)}`, method: "POST", path: `${container(id)}/start` }, [204, 304]);
  }

  async rename(id: string, name: string): Promise<void> {
    const path = `${container(id)}/rename`;
    await this.#ask({ what: `rename ${id.slice(0, 12)} to ${name}`, method: "POST", path, query: { name } }, [204]);
  }

  async stop(id: string): Promise<void> {
    // Without a time in the request, Podman takes the container's own.
    const timeoutMs = CONTAINER_STOP_MAX_S * 1_000 + PODMAN_REQUEST_TIMEOUT_MS;
    const request = {
      what: `stop ${id.slice(0, 12)}`,
      method: "POST",
      path: `${container(id)}/stop`,
      timeoutMs,
    } as const;
    await this.#ask(request, [204, 304, 404]);
  }

  async remove(id: string): Promise<void> {
    const query = { force: "false", v: "true", ignore: "true" };
    await this.#ask({ what: `remove ${id.slice(0, 12)}`, method: "DELETE", path: container(id), query }, [
      200,
      204,
      404,
    ]);
  }

  async #ask(request: PodmanRequest, wanted: readonly number[], signal?: AbortSignal): Promise<PodmanAnswer> {
    const answer = await this.#http.ask(signal === undefined ? request : { ...request, signal });
    if (wanted.includes(answer.status)) return answer;
    throw refusalOf(request.what, answer.status, refusalText(answer.body));
  }

  #decoded<T>(what: string, decoder: Decoder<T>, { body }: PodmanAnswer): T {
    try {
      return decoder(JSON.parse(body), "");
    } catch (error) {
      if (isFleetError(error, "E_ENGINE_ANSWER")) throw error;
      throw engineError("E_ENGINE_ANSWER", `Cannot ${what}: Podman's answer is not understood`, error);
    }
  }
}

function container(id: string): string {
  return `/libpod/containers/${encodeURIComponent(id)}`;
}

/** What Podman says of a refusal: `{"cause", "message", "response"}`. */
function refusalText(body: string): string {
  try {
    const { cause, message } = JSON.parse(body) as { cause?: unknown; message?: unknown };
    return typeof message === "string" && message !== "" ? message : typeof cause === "string" ? cause : "";
  } catch {
    return body.slice(0, 256);
  }
}

/** The end of a pull, if a line tells it; its error is null when the image is there. */
function pullLine(line: string): { readonly error: string | null } | undefined {
  try {
    const said = JSON.parse(line) as { error?: unknown; id?: unknown; message?: unknown; cause?: unknown };
    if (typeof said.error === "string" && said.error !== "") return { error: said.error };
    if (typeof said.id === "string" && said.id !== "") return { error: null };
    // A refusal before the stream began.
    return typeof said.message === "string" ? { error: said.message } : undefined;
  } catch {
    return undefined;
  }
}
