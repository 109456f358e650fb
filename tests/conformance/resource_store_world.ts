/**
 * What the conformance suite of resource stores needs of an adapter.
 *
 * @module
 */
import { BUCKETS } from "../../contracts/buckets.ts";
import type { ResourceKind } from "../../contracts/resource.ts";
import type { Bus } from "../../lib/bus/port.ts";
import { EmbeddedStore } from "../../operator/stores/embedded.ts";
import type { ResourceStore, StoreEvent } from "../../operator/stores/port.ts";
import { resourceKey } from "../../operator/stores/resource_document.ts";

/** An empty store. */
export interface StoreWorld {
  readonly store: ResourceStore;
  /** Puts a document that cannot be read under a name, where the adapter's backend lets anybody do that. */
  corrupt?(kind: ResourceKind, name: string): Promise<void>;
  /** What the store reported as unreadable, as `kind name`. */
  readonly malformed: readonly string[];
  close(): Promise<void>;
}

/**
 * The embedded store on a bus whose buckets exist.
 *
 * @param bus The bus
 * @param close Ends bus and broker
 */
export async function embeddedWorld(bus: Bus, close: () => Promise<void>): Promise<StoreWorld> {
  const bucket = await bus.bucket(BUCKETS.resources);
  const malformed: string[] = [];
  const store = new EmbeddedStore(bucket, { onMalformed: (kind, name) => malformed.push(`${kind} ${name}`) });
  return {
    store,
    malformed,
    close,
    async corrupt(kind, name) {
      await bucket.put(resourceKey(kind, name), new TextEncoder().encode(`{"schema":1,"kind":"${kind}"`));
    },
  };
}

/** Takes events of a watch one by one, as short text. */
export class EventTaker {
  readonly #abort = new AbortController();
  readonly #events: AsyncIterator<StoreEvent<ResourceKind>>;

  constructor(store: ResourceStore, kind: ResourceKind) {
    this.#events = store.watch(kind, this.#abort.signal)[Symbol.asyncIterator]();
  }

  /** The next event: `put <name> <generation>`, `delete <name>`, `malformed <name>`, `current`. */
  async next(): Promise<string> {
    const { done, value } = await this.#events.next();
    if (done === true) return "end";
    if (value.kind === "current") return "current";
    if (value.kind !== "put") return `${value.kind} ${value.name}`;
    return `put ${value.resource.metadata.name} ${value.resource.metadata.generation}`;
  }

  async takeUntil(last: string): Promise<string[]> {
    const events: string[] = [];
    while (events.at(-1) !== last) events.push(await this.next());
    return events;
  }

  async end(): Promise<void> {
    this.#abort.abort();
    while (await this.next() !== "end");
  }
}
