/**
 * Reads every newest value under a filter, whole or not at all.
 *
 * @module
 */
import type { BucketName } from "../../contracts/buckets.ts";
import { errorText, isFleetError } from "../../contracts/errors.ts";
import { SNAPSHOT_HEARTBEAT_MS } from "../../contracts/limits.ts";
import { busError } from "./bus_error.ts";
import type { BusCore } from "./bus_core.ts";
import type { BusEntry } from "./port.ts";
import { openPushReader, type PushReader } from "./push_reader.ts";

/** What a snapshot has read. */
export interface SnapshotResult {
  readonly entries: number;
  readonly lastRevision: number;
}

/**
 * Reads a snapshot: every key that was there when it began, each at least once, and in the order of revisions, so that
 * the whole is the state of the bucket at its last revision.
 *
 * @param core The connection
 * @param bucket The bucket
 * @param filter Key filter
 * @param onEntry Called for each entry; see `KvBucket.snapshot`
 * @throws {FleetError} `E_BUS_SNAPSHOT_INCOMPLETE` when it did not complete: a gap, a lost connection, no progress
 */
export async function readSnapshot(
  core: BusCore,
  bucket: BucketName,
  filter: string,
  onEntry: (entry: BusEntry) => void,
): Promise<SnapshotResult> {
  const { snapshotStallMs } = core.options.bounds;
  const what = `snapshot ${bucket}/${filter}`;
  const done = Promise.withResolvers<void>();
  // Rejections that come before anybody waits are not unhandled.
  done.promise.catch(() => {});
  const handed = new HandedKeys();
  let entries = 0;
  let lastRevision = 0;
  let taken = 0;

  const take = (entry: BusEntry): void => {
    taken++;
    lastRevision = entry.revision;
    if (!entry.deleted) {
      entries++;
      handed.add(entry.key);
      onEntry(entry);
    } else if (handed.delete(entry.key)) {
      onEntry(entry);
    }
  };

  let takenBefore = 0;
  const stall = setInterval(() => {
    if (taken === takenBefore) {
      const message = `Cannot ${what}: no progress within ${snapshotStallMs} ms after ${taken} entries`;
      done.reject(busError("E_BUS_SNAPSHOT_INCOMPLETE", message));
    }
    takenBefore = taken;
  }, snapshotStallMs);

  let reader: PushReader | undefined;
  try {
    reader = await openPushReader(core, {
      bucket,
      filter,
      heartbeatMs: Math.min(SNAPSHOT_HEARTBEAT_MS, snapshotStallMs),
      // Lack of progress ends it earlier.
      silentIntervalsMax: Number.POSITIVE_INFINITY,
    }, {
      onEntry: take,
      onCaughtUp: done.resolve,
      onFlowControl: (answer) => answer(),
      onLoss: (error) => done.reject(busError("E_BUS_SNAPSHOT_INCOMPLETE", `Cannot ${what}: ${error.message}`, error)),
    });
    await done.promise;
    return { entries, lastRevision };
  } catch (error) {
    // Entries may come before the answer to the creation, and the loss between the two.
    if (taken === 0 || isFleetError(error, "E_BUS_SNAPSHOT_INCOMPLETE")) throw error;
    throw busError("E_BUS_SNAPSHOT_INCOMPLETE", `Cannot ${what}: ${errorText(error)}`, error);
  } finally {
    clearInterval(stall);
    reader?.close();
  }
}

/**
 * Keys that were handed over: only for them is a later deletion news. Most snapshots meet no deletion, and a set costs a
 * third of their time, so that it is made when the first one comes.
 */
class HandedKeys {
  #list: string[] = [];
  #set: Set<string> | undefined;

  add(key: string): void {
    if (this.#set === undefined) this.#list.push(key);
    else this.#set.add(key);
  }

  /** @returns whether the key was there */
  delete(key: string): boolean {
    this.#set ??= new Set(this.#list);
    this.#list = [];
    return this.#set.delete(key);
  }
}
