/**
 * A NATS server with a small and a large bucket, as a program: prints its URL, and ends when its standard input does.
 * Its data stay in the directory, so that only the first round has to write them.
 *
 * usage: snapshot_server.ts DIRECTORY
 *
 * @module
 */
import { join } from "node:path";
import { BUCKET_SPECS } from "../contracts/buckets.ts";
import { connectBus } from "../lib/bus/connect.ts";
import type { KvBucket } from "../lib/bus/port.ts";
import { startNatsServer } from "../tests/nats/nats_server.ts";
import { SNAPSHOT_SIZES } from "./snapshot_sizes.ts";

/** Bytes of a value, such as a heartbeat has. */
const VALUE_BYTES = 200;
/** Writes on their way at once. */
const CONCURRENT_WRITES = 256;

async function fill(bucket: KvBucket, keys: number): Promise<void> {
  const value = new TextEncoder().encode(JSON.stringify({ text: "x".repeat(VALUE_BYTES - '{"text":""}'.length) }));
  let next = 0;
  const writer = async () => {
    while (next < keys) await bucket.put(`device-${next++}`, value);
  };
  await Promise.all(Array.from({ length: CONCURRENT_WRITES }, writer));
}

const directory = Deno.args[0] ?? "";
// The server of the round before may still be ending: two must not use the same data.
using lock = await Deno.open(join(directory, "lock"), { create: true, write: true });
await lock.lock(true);
const filledPath = join(directory, "filled");
const server = await startNatsServer({ directory });
try {
  if (!await Deno.stat(filledPath).then(() => true, () => false)) {
    const bus = await connectBus({ servers: [server.url], name: "filler", auth: { kind: "none" } });
    await bus.ensureBuckets(BUCKET_SPECS, Math.max(...SNAPSHOT_SIZES.map(({ keys }) => keys)), 1);
    for (const { bucket, keys } of SNAPSHOT_SIZES) await fill(await bus.bucket(bucket), keys);
    await bus.close();
    await Deno.writeTextFile(filledPath, "");
  }
  Deno.stdout.writeSync(new TextEncoder().encode(`${server.url}\n`));
  await Deno.stdin.readable.pipeTo(new WritableStream());
} finally {
  await server.stop();
}
