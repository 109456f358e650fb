/**
 * A container engine in memory, which passes the conformance suite of the port, with faults on demand.
 *
 * @module
 */
import { engineError } from "../../agent/podman/engine_error.ts";
import type { ContainerEngine, ContainerSpec, EngineContainer } from "../../agent/podman/port.ts";
import { engineReference } from "../../agent/podman/spec_generator.ts";

interface Made {
  readonly spec: ContainerSpec;
  container: EngineContainer;
}

/** What a registry answers to a pull: the image, an error, or nothing until it is told. */
export type RegistryAnswer = "image" | { readonly error: string } | Promise<void>;

/** A container engine in memory. */
export class FakeEngine implements ContainerEngine {
  readonly images = new Set<string>();
  readonly registry = new Map<string, RegistryAnswer>();
  /** Containers that cannot be started, by name, with Podman's words. */
  readonly broken = new Map<string, string>();
  /** Each call, as `create web.app`, before it has happened. */
  readonly calls: string[] = [];
  /** Called before each call, with its number from 0; what it throws comes in the call's place. */
  before: (call: number, what: string) => void | Promise<void> = () => {};
  /** Called after each change, before it is answered. */
  after: (call: number, what: string) => void | Promise<void> = () => {};
  away = false;
  readonly #containers = new Map<string, Made>();
  #ids = 0;
  #nowS = 1_780_000_000;

  async version(signal?: AbortSignal): Promise<string> {
    signal?.throwIfAborted();
    await this.#call("version");
    return "4.3.1";
  }

  async list(labels: Readonly<Record<string, string | null>>, signal?: AbortSignal): Promise<EngineContainer[]> {
    signal?.throwIfAborted();
    await this.#call("list");
    return [...this.#containers.values()].map(({ container }) => container).filter((container) =>
      Object.entries(labels).every(([key, value]) =>
        Object.hasOwn(container.labels, key) && (value === null || container.labels[key] === value)
      )
    );
  }

  async hasImage(image: string, signal?: AbortSignal): Promise<boolean> {
    signal?.throwIfAborted();
    await this.#call(`look ${image}`);
    return this.images.has(engineReference(image));
  }

  async pull(image: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.#call(`pull ${image}`);
    const answer = this.registry.get(image) ?? { error: "manifest unknown" };
    if (answer instanceof Promise) {
      const aborted = new Promise<never>((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason), { once: true })
      );
      await Promise.race([answer, aborted]);
    } else if (answer !== "image") throw engineError("E_ENGINE_PULL", `Cannot pull ${image}: ${answer.error}`);
    this.images.add(engineReference(image));
  }

  async create(spec: ContainerSpec): Promise<string> {
    return await this.#change(`create ${spec.name}`, () => {
      if (this.named(spec.name) !== undefined) {
        throw engineError("E_ENGINE_NAME_TAKEN", `Cannot create ${spec.name}: that name is already in use`);
      }
      if (!this.images.has(engineReference(spec.image))) {
        throw engineError("E_ENGINE_NO_IMAGE", `Cannot create ${spec.name}: ${spec.image}: no such image`);
      }
      const id = (++this.#ids).toString(16).padStart(64, "0");
      const container: EngineContainer = {
        id,
        name: spec.name,
        labels: spec.labels,
        phase: "created",
        state: "created",
        startedAtS: 0,
        exitedAtS: 0,
        exitCode: 0,
      };
      this.#containers.set(id, { spec, container });
      return id;
    });
  }

  async start(id: string): Promise<void> {
    await this.#change(`start ${this.#nameOf(id)}`, () => {
      const { container, spec } = this.#must(id, "start");
      const problem = this.broken.get(spec.name) ?? this.broken.get(container.name);
      if (problem !== undefined) throw engineError("E_ENGINE_REFUSED", `Cannot start ${container.name}: ${problem}`);
      if (container.phase !== "running") {
        this.#put(id, { phase: "running", state: "running", startedAtS: this.#tick() });
      }
    });
  }

  async rename(id: string, name: string): Promise<void> {
    await this.#change(`rename ${this.#nameOf(id)} to ${name}`, () => {
      const { container } = this.#must(id, "rename");
      const other = this.named(name);
      if (other !== undefined && other.id !== container.id) {
        throw engineError("E_ENGINE_NAME_TAKEN", `Cannot rename ${container.name}: name "${name}" is already in use`);
      }
      this.#put(id, { name });
    });
  }

  async stop(id: string): Promise<void> {
    await this.#change(`stop ${this.#nameOf(id)}`, () => {
      if (this.#containers.get(id)?.container.phase === "running") this.exit(id, 0);
    });
  }

  async remove(id: string): Promise<void> {
    await this.#change(`remove ${this.#nameOf(id)}`, () => {
      const made = this.#containers.get(id);
      if (made === undefined) return;
      if (made.container.phase === "running") {
        throw engineError("E_ENGINE_REFUSED", `Cannot remove ${made.container.name}: it is running`);
      }
      this.#containers.delete(id);
    });
  }

  /** All containers, without a call. */
  get all(): EngineContainer[] {
    return [...this.#containers.values()].map(({ container }) => container);
  }

  /** The container of a name, without a call. */
  named(name: string): EngineContainer | undefined {
    return this.all.find((container) => container.name === name);
  }

  /** Ends a container by itself. */
  exit(id: string, exitCode: number): void {
    this.#put(id, { phase: "exited", state: "exited", exitCode, exitedAtS: this.#tick() });
  }

  /** What Podman does by a restart policy: the container ends and is started again. */
  restart(id: string): void {
    this.exit(id, 1);
    this.#put(id, { phase: "running", state: "running", startedAtS: this.#tick() });
  }

  /** What a power cut leaves: nothing runs, and no end was written down. */
  powerCut(): void {
    for (const { container } of this.#containers.values()) {
      if (container.phase === "running") this.#put(container.id, { phase: "exited", state: "exited", exitedAtS: 0 });
    }
  }

  /** Changes what a list shows of a container. */
  alter(id: string, change: Partial<EngineContainer>): void {
    this.#put(id, change);
  }

  /** Adds a container that somebody else has made. */
  add(container: Partial<EngineContainer> & { readonly name: string }): string {
    const id = (++this.#ids).toString(16).padStart(64, "f");
    const spec = {
      name: container.name,
      image: "localhost/other:1",
      labels: {},
      env: {},
      ports: [],
      volumes: [],
      restartPolicy: "no",
      stopTimeoutS: 10,
    } as const;
    const whole = {
      id,
      labels: {},
      phase: "running",
      state: "running",
      startedAtS: 1,
      exitedAtS: 0,
      exitCode: 0,
    } as const;
    this.#containers.set(id, { spec, container: { ...whole, ...container } });
    return id;
  }

  #tick(): number {
    return ++this.#nowS;
  }

  #put(id: string, change: Partial<EngineContainer>): void {
    const made = this.#containers.get(id);
    if (made !== undefined) made.container = { ...made.container, ...change };
  }

  #must(id: string, what: string): Made {
    const made = this.#containers.get(id);
    if (made === undefined) throw engineError("E_ENGINE_NO_CONTAINER", `Cannot ${what} ${id}: no such container`);
    return made;
  }

  #nameOf(id: string): string {
    return this.#containers.get(id)?.container.name ?? id;
  }

  async #call(what: string): Promise<number> {
    const call = this.calls.length;
    this.calls.push(what);
    // A real answer comes after the turn that asked.
    await Promise.resolve();
    if (this.away) throw engineError("E_ENGINE_UNREACHABLE", `Cannot ${what}: nobody listens at the socket`);
    await this.before(call, what);
    return call;
  }

  async #change<T>(what: string, change: () => T): Promise<T> {
    const call = await this.#call(what);
    const result = change();
    await this.after(call, what);
    return result;
  }
}
