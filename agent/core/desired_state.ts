/**
 * What the device is told to run, and what a snapshot of it may change. A snapshot that lacks the device's generation,
 * or does not have the entries that the generation counts, adds and changes but removes nothing: a bucket that was lost
 * or restored must not stop workloads (DESIGN 4).
 *
 * @module
 */
import { desiredStateFilter, generationKey } from "../../contracts/buckets.ts";
import { parseJson } from "../../contracts/codec.ts";
import { type DesiredEntry, desiredEntry, desiredGeneration } from "../../contracts/desired_state.ts";
import { errorText, FleetError } from "../../contracts/errors.ts";
import { bounded } from "../../contracts/formats.ts";
import { DESIRED_ENTRIES_MAX, DESIRED_STATE_MAX_BYTES } from "../../contracts/limits.ts";
import { type DesiredWorkload, readWorkload } from "./desired_workload.ts";

/** One value of a complete snapshot. */
export interface SnapshotValue {
  readonly key: string;
  readonly value: Uint8Array;
}

/** An entry, and what it tells the device to run. */
export interface HeldEntry extends DesiredEntry {
  readonly workload: DesiredWorkload;
}

/** What a complete snapshot holds. */
export interface DesiredSnapshot {
  /** The device's generation, or null when it is missing or unreadable. */
  readonly generation: { readonly generation: number; readonly entries: number } | null;
  /** Entries by the last token of their key. */
  readonly entries: ReadonlyMap<string, HeldEntry>;
  /** Keys whose value cannot be read; their workloads stay as they are. */
  readonly unreadable: ReadonlyMap<string, string>;
}

/** What the agent holds as desired. */
export interface HeldState {
  /** Highest generation that a complete snapshot had; 0 when there was none. */
  readonly generation: number;
  readonly entries: ReadonlyMap<string, HeldEntry>;
  /** Entries of the newest snapshot that cannot be read, by the last token of their key. */
  readonly unreadable: ReadonlyMap<string, string>;
  /** Whether the newest snapshot proves that nothing else is desired; only then may anything be removed. */
  readonly whole: boolean;
}

/** What a snapshot made of the held state. */
export interface DesiredChange {
  readonly held: HeldState;
  /** Last tokens of the keys. */
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  /** Entries that the snapshot lacks and that stay because it proves nothing. */
  readonly kept: readonly string[];
  /** Why nothing may be removed, when that is so. */
  readonly incomplete?: string;
}

/** Nothing is desired yet. */
export const NOTHING_HELD: HeldState = { generation: 0, entries: new Map(), unreadable: new Map(), whole: false };

/**
 * Reads the values of a complete snapshot.
 *
 * @param deviceId The device
 * @param values All values under the device's filter
 * @throws {FleetError} `E_DESIRED_TOO_MANY` above {@link DESIRED_ENTRIES_MAX} entries
 */
export function readSnapshot(deviceId: string, values: readonly SnapshotValue[]): DesiredSnapshot {
  const prefix = desiredStateFilter(deviceId).slice(0, -1);
  const own = generationKey(deviceId);
  const entries = new Map<string, HeldEntry>();
  const unreadable = new Map<string, string>();
  for (const { key, value } of values) {
    if (key === own) continue;
    const token = key.slice(prefix.length);
    try {
      entries.set(token, entryAt(token, value));
    } catch (error) {
      unreadable.set(token, bounded(errorText(error)));
    }
  }
  const found = entries.size + unreadable.size;
  if (found > DESIRED_ENTRIES_MAX) {
    throw new FleetError(`Cannot take the desired state: it has ${found} entries, at most ${DESIRED_ENTRIES_MAX}`, {
      code: "E_DESIRED_TOO_MANY",
      failureClass: "policy",
    });
  }
  return { generation: generationIn(values.find(({ key }) => key === own)), entries, unreadable };
}

function generationIn(value: SnapshotValue | undefined): DesiredSnapshot["generation"] {
  if (value === undefined) return null;
  try {
    return desiredGeneration(parseJson(value.value, { maxBytes: DESIRED_STATE_MAX_BYTES }), "");
  } catch {
    // Unreadable proves as little as missing: nothing is removed.
    return null;
  }
}

function entryAt(token: string, value: Uint8Array): HeldEntry {
  const document = parseJson(value, { maxBytes: DESIRED_STATE_MAX_BYTES });
  const entry = desiredEntry(document, "");
  if (entry.deploymentId === token) return { ...entry, workload: readWorkload(document) };
  throw new FleetError(`deploymentId: is ${entry.deploymentId}, the key says ${token}`, {
    code: "E_DECODE",
    failureClass: "policy",
    field: "deploymentId",
  });
}

function incompleteness(held: HeldState, { generation, entries, unreadable }: DesiredSnapshot): string | undefined {
  if (generation === null) return "the device's generation is missing or unreadable";
  const found = entries.size + unreadable.size;
  if (generation.entries !== found) return `the generation counts ${generation.entries} entries, there are ${found}`;
  // A bucket restored from an old backup must not undo what was deployed since.
  if (generation.generation >= held.generation) return undefined;
  return `the generation is ${generation.generation}, it has been ${held.generation}`;
}

/**
 * What a complete snapshot makes of the held state.
 *
 * @param held What the agent holds
 * @param snapshot The snapshot
 */
export function applySnapshot(held: HeldState, snapshot: DesiredSnapshot): DesiredChange {
  const incomplete = incompleteness(held, snapshot);
  const entries = new Map(snapshot.entries);
  const removed: string[] = [];
  const kept: string[] = [];
  for (const [token, entry] of held.entries) {
    if (entries.has(token)) continue;
    const stays = incomplete !== undefined || snapshot.unreadable.has(token);
    if (stays) entries.set(token, entry);
    (stays ? kept : removed).push(token);
  }
  const known = [...snapshot.entries].filter(([token]) => held.entries.has(token));
  return {
    held: {
      entries,
      unreadable: snapshot.unreadable,
      whole: incomplete === undefined,
      generation: incomplete === undefined ? snapshot.generation?.generation ?? held.generation : held.generation,
    },
    added: [...snapshot.entries.keys()].filter((token) => !held.entries.has(token)),
    changed: known.filter(([token, entry]) => held.entries.get(token)?.generation !== entry.generation)
      .map(([token]) => token),
    removed,
    kept,
    ...(incomplete === undefined ? {} : { incomplete }),
  };
}
