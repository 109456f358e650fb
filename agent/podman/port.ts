/**
 * The container engine of the device, as a port: Podman's adapter and the fake pass the same conformance suite
 * (`tests/conformance/container_engine.ts`).
 *
 * Every method either has happened or throws; one that threw `E_ENGINE_TIMEOUT` or `E_ENGINE_UNREACHABLE` may have
 * happened, so that whoever goes on looks at {@link ContainerEngine.list} first. Failures are {@link FleetError}s:
 *
 * | Code | Class | Meaning |
 * |---|---|---|
 * | `E_ENGINE_UNREACHABLE` | transient, environment | nobody answers at the socket, or the connection broke |
 * | `E_ENGINE_TIMEOUT` | transient, environment | no answer in time |
 * | `E_ENGINE_NO_IMAGE` | transient, policy | the image is not on the device |
 * | `E_ENGINE_PULL` | transient, environment | the image could not be fetched; the text is the engine's |
 * | `E_ENGINE_NAME_TAKEN` | transient, policy | another container has the name |
 * | `E_ENGINE_NO_CONTAINER` | transient, policy | there is no such container (any more) |
 * | `E_ENGINE_REFUSED` | transient, policy | the engine does not do it; the text is the engine's |
 * | `E_ENGINE_ANSWER` | transient, internal | the answer is not one that this program understands, or too large |
 *
 * All are transient, since what the device lacks today (a path, a device, a network) it may have tomorrow.
 *
 * @module
 */

/** What a container does. Whatever else an engine may say is `other`, and is left alone until it is over. */
export type ContainerPhase = "created" | "running" | "exited" | "other";

/** A container as a list shows it. */
export interface EngineContainer {
  readonly id: string;
  /** Without a leading slash. */
  readonly name: string;
  /** Its own labels and those of its image. */
  readonly labels: Readonly<Record<string, string>>;
  readonly phase: ContainerPhase;
  /** What the engine calls the phase. */
  readonly state: string;
  /** Newest start, in s since the epoch; 0 when it never was started. */
  readonly startedAtS: number;
  /** Newest end, in s since the epoch; 0 or before the start while it runs, or when a power cut ended it. */
  readonly exitedAtS: number;
  /** Of the newest end. */
  readonly exitCode: number;
}

/** A volume of a container. */
export interface EngineVolume {
  readonly type: "bind" | "named";
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

/** A published port. */
export interface EnginePort {
  readonly containerPort: number;
  readonly hostPort: number;
  readonly protocol: "tcp" | "udp" | "sctp";
  /** Empty for all addresses. */
  readonly hostIp: string;
}

/** What a container is made from. Members that are absent are the image's or the engine's own. */
export interface ContainerSpec {
  readonly name: string;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly ports: readonly EnginePort[];
  readonly volumes: readonly EngineVolume[];
  readonly user?: string;
  readonly networkMode?: "host" | "bridge" | "none" | "private";
  readonly restartPolicy: "no" | "on-failure" | "always" | "unless-stopped";
  readonly stopTimeoutS: number;
}

/** The container engine of the device. */
export interface ContainerEngine {
  /** Its version, and proof that it answers. */
  version(signal?: AbortSignal): Promise<string>;
  /**
   * All containers that have every one of the labels, whatever they do, in no order.
   *
   * @param labels Labels with their values, or with null for any value
   */
  list(labels: Readonly<Record<string, string | null>>, signal?: AbortSignal): Promise<EngineContainer[]>;
  /** Whether the image is on the device. */
  hasImage(image: string, signal?: AbortSignal): Promise<boolean>;
  /**
   * Fetches an image. What came of it is kept for the next try as far as the engine can.
   *
   * @param image Its reference
   * @param signal Ends it; the call then rejects with its reason
   */
  pull(image: string, signal: AbortSignal): Promise<void>;
  /**
   * Makes a container and does not start it. The image must be there: none is fetched.
   *
   * @returns its id
   * @throws {FleetError} `E_ENGINE_NAME_TAKEN`, `E_ENGINE_NO_IMAGE`; nothing has then been made
   */
  create(spec: ContainerSpec): Promise<string>;
  /** Starts a container; one that runs is left as it is. */
  start(id: string): Promise<void>;
  /** Gives a container another name. @throws {FleetError} `E_ENGINE_NAME_TAKEN` */
  rename(id: string, name: string): Promise<void>;
  /** Ends a container and waits for it, with its own time from SIGTERM to SIGKILL; one that does not run, or does not exist, is left as it is. */
  stop(id: string): Promise<void>;
  /** Removes a container that does not run, with its anonymous volumes and never a named one; one that does not exist is no error. */
  remove(id: string): Promise<void>;
}
