/**
 * Follows the newest values under a filter, over reconnects, server restarts and buckets that were made anew.
 *
 * @module
 */
import type { BucketName } from "../../contracts/buckets.ts";
import { WATCH_HEARTBEATS_MISSED_MAX } from "../../contracts/limits.ts";
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
 * @param onLoss Told of each loss, after everything that came before it was yielded
 */
export async function* watchKeys(
  core: BusCore,
  bucket: BucketName,
  filter: string,
  signal: AbortSignal,
  onLoss?: () => void,
): AsyncGenerator<WatchEvent, void, undefined> {
  const ended = AbortSignal.any([signal, core.closing]);
  // The server's flow control bounds it.
  const queue = new AbortableQueue<Item>(ended);
  for (let isFirst = true;; isFirst = false) {
    const reader = await openPatiently(core, bucket, filter, queue, ended);
    if (reader === null) return;
    try {
      if (!isFirst) yield { kind: "restarted" };
      for (let item = await queue.take(); item?.kind !== "loss"; item = await queue.take()) {
        if (item === null) return;
        if (item.kind === "flow-control") item.answer();
        else yield item;
      }
      onLoss?.();
    } finally {
      reader.close();
      queue.clear();
    }
  }
}

/** Opens a reader as soon as that is possible; null when the watch has ended. */
async function openPatiently(
  core: BusCore,
  bucket: BucketName,
  filter: string,
  queue: AbortableQueue<Item>,
  ended: AbortSignal,
): Promise<PushReader | null> {
  const { watchHeartbeatMs, reconnectMinMs: minMs, reconnectMaxMs: maxMs } = core.options.bounds;
  const { random } = core.options;
  for (let failures = 0; !ended.aborted; failures++) {
    try {
      await untilConnected(core, ended);
      return await openPushReader(core, {
        bucket,
        filter,
        heartbeatMs: watchHeartbeatMs,
        silentIntervalsMax: WATCH_HEARTBEATS_MISSED_MAX,
      }, {
        onEntry: (entry) => queue.push({ kind: "entry", entry }),
        onCaughtUp: () => queue.push({ kind: "current" }),
        onFlowControl: (answer) => queue.push({ kind: "flow-control", answer }),
        onLoss: () => queue.push({ kind: "loss" }),
      });
    } catch (error) {
      queue.clear();
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
