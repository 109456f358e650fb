/**
 * What a crash may leave of a file that was written and not synced.
 *
 * POSIX promises nothing about it: each block of each write, and each change of size, may or may not be on the disk,
 * in any order. The contents here stand for the classes of that: nothing, everything, the size without the data, the
 * data without the size, and halves in either order.
 *
 * @module
 */

/** The first `sizeBytes` of `bytes`, with zeroes where there are none. */
function sized(bytes: Uint8Array, sizeBytes: number): Uint8Array {
  const result = new Uint8Array(sizeBytes);
  result.set(bytes.subarray(0, sizeBytes));
  return result;
}

function joined(first: Uint8Array, second: Uint8Array, at: number): Uint8Array {
  const result = second.slice();
  result.set(first.subarray(0, at));
  return result;
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  if (a === b) return true;
  if (a.byteLength !== b.byteLength) return false;
  for (let index = 0; index < a.byteLength; index++) if (a[index] !== b[index]) return false;
  return true;
}

/**
 * The distinct contents that a crash may leave, the durable one first and the newest last.
 *
 * @param durable Content at the last sync; empty for a file that was never synced
 * @param newest Content now
 */
export function tornContents(durable: Uint8Array, newest: Uint8Array): Uint8Array[] {
  if (same(durable, newest)) return [newest];
  const results: Uint8Array[] = [];
  const add = (content: Uint8Array) => {
    if (!same(content, newest) && !results.some((known) => same(known, content))) results.push(content);
  };
  add(durable);
  for (const sizeBytes of new Set([durable.byteLength, newest.byteLength])) {
    const before = sized(durable, sizeBytes);
    const after = joined(newest, before, Math.min(newest.byteLength, sizeBytes));
    const middle = sizeBytes >> 1;
    // A new size without data, which for a new file is a file of zeroes; then all data at either size; then halves.
    for (const content of [before, after, joined(after, before, middle), joined(before, after, middle)]) add(content);
  }
  if (newest.byteLength > durable.byteLength) {
    // A file that grows may stop at any size on the way.
    const between = durable.byteLength + ((newest.byteLength - durable.byteLength) >> 1);
    for (const sizeBytes of [between, newest.byteLength - 1]) add(newest.slice(0, sizeBytes));
  }
  results.push(newest);
  return results;
}
