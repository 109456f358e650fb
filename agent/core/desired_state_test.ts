import { assertEquals, assertThrows } from "@std/assert";
import { FleetError } from "../../contracts/errors.ts";
import { DESIRED_ENTRIES_MAX } from "../../contracts/limits.ts";
import { bytesOf, DEVICE_ID, STARTED_AT, uuidOf } from "../../tests/fakes/agent_samples.ts";
import { applySnapshot, type HeldState, NOTHING_HELD, readSnapshot, type SnapshotValue } from "./desired_state.ts";

function entry(deploymentId: string, generation = 1): SnapshotValue {
  return { key: `${DEVICE_ID}.${deploymentId}`, value: bytesOf({ schema: 1, deploymentId, name: "web", generation }) };
}

function generation(number: number, entries: number): SnapshotValue {
  const value = bytesOf({ schema: 1, generation: number, entries, updatedAt: STARTED_AT });
  return { key: `${DEVICE_ID}._generation`, value };
}

const apply = (held: HeldState, ...values: SnapshotValue[]) => applySnapshot(held, readSnapshot(DEVICE_ID, values));
const A = uuidOf(1);
const B = uuidOf(2);
const BOTH = apply(NOTHING_HELD, entry(A), entry(B), generation(5, 2)).held;

Deno.test("applySnapshot() adds, changes and removes what a complete snapshot says", () => {
  const change = apply(BOTH, entry(A, 2), entry(uuidOf(3)), generation(6, 2));
  assertEquals(change.added, [uuidOf(3)]);
  assertEquals(change.changed, [A]);
  assertEquals(change.removed, [B]);
  assertEquals(change.incomplete, undefined);
  assertEquals([...change.held.entries.keys()], [A, uuidOf(3)]);
  assertEquals(change.held.generation, 6);
});

Deno.test("applySnapshot() removes everything when the generation says that nothing is desired", () => {
  assertEquals(apply(BOTH, generation(6, 0)).removed, [A, B]);
});

Deno.test("applySnapshot() removes nothing without the generation: the bucket was emptied or made again", () => {
  const change = apply(BOTH);
  assertEquals([change.removed, change.kept], [[], [A, B]]);
  assertEquals(change.held, { ...BOTH, whole: false });
  assertEquals(change.incomplete, "the device's generation is missing or unreadable");
});

Deno.test("applySnapshot() still adds and changes without the generation", () => {
  const change = apply(BOTH, entry(A, 2), entry(uuidOf(3)));
  assertEquals([change.added, change.changed, change.removed, change.kept], [[uuidOf(3)], [A], [], [B]]);
  assertEquals(change.held.entries.size, 3);
});

Deno.test("applySnapshot() removes nothing when the generation counts other entries", () => {
  for (const count of [0, 2]) {
    const change = apply(BOTH, entry(A), generation(6, count));
    assertEquals([change.removed, change.kept], [[], [B]]);
    // What proved nothing must not raise the bar for the next complete one.
    assertEquals(change.held.generation, 5);
  }
});

Deno.test("applySnapshot() removes nothing by an older generation: the bucket was restored from a backup", () => {
  assertEquals(apply(BOTH, entry(A), generation(4, 1)).removed, []);
  assertEquals(apply(BOTH, entry(A), generation(5, 1)).removed, [B]);
});

Deno.test("applySnapshot() keeps the workload of an entry that cannot be read, and counts it", () => {
  const broken = { key: `${DEVICE_ID}.${B}`, value: bytesOf({ schema: 1 }) };
  const change = apply(BOTH, entry(A), broken, generation(6, 2));
  assertEquals([change.removed, change.kept, change.incomplete], [[], [B], undefined]);
});

Deno.test("readSnapshot() does not take an entry whose key names another deployment", () => {
  const swapped = { key: `${DEVICE_ID}.${B}`, value: entry(A).value };
  const { entries, unreadable } = readSnapshot(DEVICE_ID, [swapped]);
  assertEquals(entries.size, 0);
  assertEquals(unreadable.get(B), `deploymentId: is ${A}, the key says ${B}`);
});

Deno.test("readSnapshot() takes an unreadable generation for a missing one", () => {
  const snapshot = readSnapshot(DEVICE_ID, [{ key: `${DEVICE_ID}._generation`, value: bytesOf("x") }]);
  assertEquals([snapshot.generation, snapshot.unreadable.size], [null, 0]);
});

for (const extra of [-1, 0, 1]) {
  Deno.test(`readSnapshot() of ${DESIRED_ENTRIES_MAX + extra} entries`, () => {
    const values = Array.from({ length: DESIRED_ENTRIES_MAX + extra }, (_, index) => ({
      key: `${DEVICE_ID}.${index}`,
      value: bytesOf("unreadable counts too"),
    }));
    const read = () => readSnapshot(DEVICE_ID, [...values, generation(1, 1)]);
    if (extra <= 0) assertEquals(read().unreadable.size, DESIRED_ENTRIES_MAX + extra);
    else assertEquals(assertThrows(read, FleetError).code, "E_DESIRED_TOO_MANY");
  });
}
