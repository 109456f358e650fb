/**
 * Every state that `desired-state` was ever in, as a device could have read it: after each single write.
 *
 * @module
 */
import { BUCKETS } from "../../../contracts/buckets.ts";
import { GENERATION_TOKEN } from "../../../contracts/desired_state.ts";
import type { Bus } from "../../../lib/bus/port.ts";

/** What a device may read at one moment. */
interface DeviceState {
  /** Names by token; null for an entry that cannot be read. */
  readonly entries: Map<string, string | null>;
  count: number | null;
  generation: number;
}

/** Follows the bucket. */
export class DesiredHistory {
  /** Moments at which a device would have removed a deployment that it must keep, and other broken promises. */
  readonly misread: string[] = [];
  /** Writes, as `device name` or `device #count`, in order; a deletion has a minus. */
  readonly writes: string[] = [];
  readonly #kept: ReadonlySet<string>;
  readonly #devices = new Map<string, DeviceState>();
  /** Deployments that a device had once. */
  readonly #had = new Set<string>();

  /** @param kept Names of deployments that no device may lose once it has them */
  constructor(kept: Iterable<string> = []) {
    this.#kept = new Set(kept);
  }

  /** Follows the bucket until the signal aborts. */
  async run(bus: Bus, signal: AbortSignal): Promise<void> {
    const bucket = await bus.bucket(BUCKETS.desiredState);
    for await (const event of bucket.watch(">", signal)) {
      // A bucket that was lost is empty, and no device may take that for its desired state.
      if (event.kind === "restarted") this.#devices.clear();
      if (event.kind === "entry") this.#take(event.entry.key, event.entry.deleted ? null : event.entry.value);
    }
  }

  /** How often a device was written an entry of a deployment. */
  writesOf(id: string, name: string): number {
    return this.writes.filter((line) => line === `${id} ${name}`).length;
  }

  #take(key: string, value: Uint8Array | null): void {
    const dot = key.indexOf(".");
    const [id, token] = [key.slice(0, dot), key.slice(dot + 1)];
    let state = this.#devices.get(id);
    if (state === undefined) this.#devices.set(id, state = { entries: new Map(), count: null, generation: 0 });
    const document = value === null ? null : JSON.parse(new TextDecoder().decode(value));
    if (token === GENERATION_TOKEN) this.#count(id, state, document);
    else {
      const name = document?.name ?? null;
      this.writes.push(document === null ? `${id} -${state.entries.get(token)}` : `${id} ${name}`);
      if (document === null) state.entries.delete(token);
      else state.entries.set(token, name);
      this.#had.add(`${id} ${name}`);
    }
    // What an agent takes for whole, and removes everything else by.
    if (state.count !== state.entries.size) return;
    const names = new Set(state.entries.values());
    for (const name of this.#kept) {
      if (this.#had.has(`${id} ${name}`) && !names.has(name)) this.misread.push(`${id} would remove ${name}`);
    }
  }

  #count(id: string, state: DeviceState, document: { entries: number; generation: number } | null): void {
    this.writes.push(document === null ? `${id} -#` : `${id} #${document.entries}`);
    if (document !== null && document.generation <= state.generation) {
      this.misread.push(`${id} has generation ${document.generation} after ${state.generation}`);
    }
    state.generation = document?.generation ?? state.generation;
    state.count = document?.entries ?? null;
  }
}
