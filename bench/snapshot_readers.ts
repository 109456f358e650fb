/**
 * Ways to read every newest value of a bucket: ours, and those of the NATS library. Each on a connection of its own,
 * which stays open as a program's does.
 *
 * @module
 */
import { DeliverPolicy, jetstream } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { connect } from "@nats-io/transport-node";
import type { BucketName } from "../contracts/buckets.ts";
import { streamName } from "../contracts/subjects.ts";
import { connectBus } from "../lib/bus/connect.ts";
import { snapshotMap } from "../lib/bus/snapshot_map.ts";

/** Reads a bucket once and gives the number of its keys. */
export type SnapshotReader = (bucket: BucketName) => Promise<number>;

async function ours(url: string): Promise<SnapshotReader> {
  const bus = await connectBus({ servers: [url], name: "bench", auth: { kind: "none" } });
  return async (name) => {
    let keys = 0;
    await (await bus.bucket(name)).snapshot(">", () => keys++);
    return keys;
  };
}

async function oursInMap(url: string): Promise<SnapshotReader> {
  const bus = await connectBus({ servers: [url], name: "bench", auth: { kind: "none" } });
  return async (name) => (await snapshotMap(await bus.bucket(name), ">")).size;
}

/** Reads names only; a program would then get each value. */
async function libraryKeys(url: string): Promise<SnapshotReader> {
  const manager = new Kvm(await connect({ servers: [url] }));
  return async (name) => {
    const bucket = await manager.open(name);
    let keys = 0;
    for await (const _key of await bucket.keys()) keys++;
    return keys;
  };
}

async function libraryOrderedConsumer(url: string): Promise<SnapshotReader> {
  const js = jetstream(await connect({ servers: [url] }));
  return async (name) => {
    const consumer = await js.consumers.get(streamName(name), {
      filter_subjects: `$KV.${name}.>`,
      deliver_policy: DeliverPolicy.LastPerSubject,
    });
    let keys = 0;
    const messages = await consumer.consume();
    for await (const message of messages) {
      keys++;
      if (message.info.pending === 0) break;
    }
    await messages.close();
    return keys;
  };
}

/** Opens a way of reading, by name. */
export const SNAPSHOT_READERS = {
  "ours": ours,
  "ours-in-map": oursInMap,
  "kv-keys": libraryKeys,
  "ordered-consumer": libraryOrderedConsumer,
} as const satisfies Readonly<Record<string, (url: string) => Promise<SnapshotReader>>>;

/** A way of reading. */
export type SnapshotReaderName = keyof typeof SNAPSHOT_READERS;

/** Whether a text names a way of reading. */
export function isSnapshotReaderName(text: string): text is SnapshotReaderName {
  return Object.hasOwn(SNAPSHOT_READERS, text);
}
