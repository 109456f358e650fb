/**
 * Follows the newest values under a filter, over reconnects, server restarts and buckets that were made anew.
 *
 * @module
 */
import type { BucketName } from "../../contracts/buckets.ts";
import { backoffMs, systemClock } from "../deadline.ts";
import { errorText } from "../../contracts/errors.ts";
import { AbortableQueue } from "./abortable_queue.ts";
import type { BusCore } from "./bus_core.ts";
import type { WatchEvent } from "./port.ts";
import { openPushReader, type PushReader } from "./push_reader.ts";

type Item = WatchEvent | { readonly kind: "flow-control"; readonly answer: () => void } | { readonly kind: "loss" };

/**
 * Watches. After any loss it begins again with the newest values: a bucket holds one per key, so that a full replay is
 * both the simplest and the only right answer to a bucket that was deleted and made anew with lower revisions.
 *
 * @param core The connection
 * @param bucket The bucket
 * @param filter Key filter
 * @param signal Ends it
 */
export async function* watchKeys(
  core: BusCore,
  bucket: BucketName,
  filter: string,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent, void, undefined> {
  const ended = AbortSignal.any([signal, core.closing]);
  const queue = new ItemQueue(ended);
  for (let isFirst = true;; isFirst = false) {
    const reader = await openPatiently(core, bucket, filter, queue, ended);
    if (reader === null) return;
    try {
      if (!isFirst) yield { kind: "restarted" };
      if (reader.pendingAtStart === 0) queue.pushCurrent();
      for (let item = await queue.take(); item?.kind !== "loss"; item = await queue.take()) {
        if (item === null) return;
        if (item.kind === "flow-control") item.answer();
        else yield item;
      }
    } finally {
      reader.close();
      queue.restart();
    }
  }
}

/** Opens a reader as soon as that is possible; null when the watch has ended. */
async function openPatiently(
  core: BusCore,
  bucket: BucketName,
  filter: string,
  queue: ItemQueue,
  ended: AbortSignal,
): Promise<PushReader | null> {
  const { watchHeartbeatMs, reconnectMinMs: minMs, reconnectMaxMs: maxMs } = core.options.bounds;
  const { random } = core.options;
  for (let failures = 0; !ended.aborted; failures++) {
    try {
      await untilConnected(core, ended);
      return await openPushReader(core, { bucket, filter, heartbeatMs: watchHeartbeatMs }, {
        onEntry: (entry, pending) => {
          queue.push({ kind: "entry", entry });
          if (pending === 0) queue.pushCurrent();
        },
        onFlowControl: (answer) => queue.push({ kind: "flow-control", answer }),
        onLoss: () => queue.push({ kind: "loss" }),
      });
    } catch (error) {
      queue.restart();
      if (ended.aborted) break;
      core.emit({ kind: "error", message: errorText(error) });
      await systemClock.sleep(backoffMs(failures, { minMs, maxMs, random }), ended).catch(() => {});
    }
  }
  return null;
}

async function untilConnected(core: BusCore, ended: AbortSignal): Promise<void> {
  if (core.connected) return;
  const waiting = Promise.withResolvers<void>();
  const unlisten = core.onStatus((status) => {
    if (status.kind === "connected") waiting.resolve();
  });
  const onAbort = () => waiting.resolve();
  ended.addEventListener("abort", onAbort, { once: true });
  try {
    await waiting.promise;
  } finally {
    unlisten();
    ended.removeEventListener("abort", onAbort);
  }
}

/** Items between the connection and the consumer of the watch. The server's flow control bounds it. */
class ItemQueue extends AbortableQueue<Item> {
  #saidCurrent = false;

  /** Says `current` once for each beginning. */
  pushCurrent(): void {
    if (this.#saidCurrent) return;
    this.#saidCurrent = true;
    this.push({ kind: "current" });
  }

  /** Forgets what came from a reader that has ended. */
  restart(): void {
    this.clear();
    this.#saidCurrent = false;
  }
}
