/**
 * Keys with a time at which each is due; a key is due once. A binary heap, so that each call costs the logarithm of the
 * number of keys.
 *
 * @module
 */

interface Entry<K> {
  readonly dueMs: number;
  readonly key: K;
}

/** Stale entries that are let be before the heap is built anew. */
const SLACK = 1_024;

/** Keys by due time. */
export class DelayQueue<K> {
  /** The truth; an entry of the heap that differs from it is stale. */
  readonly #due = new Map<K, number>();
  #heap: Entry<K>[] = [];

  /** Number of keys. */
  get size(): number {
    return this.#due.size;
  }

  /** When the next key is due, or undefined when there is none. */
  get nextDueMs(): number | undefined {
    this.#dropStale();
    return this.#heap[0]?.dueMs;
  }

  /** Makes a key due at a time, or at its own if that is earlier. */
  add(key: K, dueMs: number): void {
    const known = this.#due.get(key);
    if (known !== undefined && known <= dueMs) return;
    this.#due.set(key, dueMs);
    this.#push({ key, dueMs });
    if (this.#heap.length > 2 * this.#due.size + SLACK) this.#rebuild();
  }

  /** Forgets a key. */
  delete(key: K): void {
    this.#due.delete(key);
  }

  /** Takes the next key that is due, or undefined. */
  take(nowMs: number): K | undefined {
    this.#dropStale();
    const first = this.#heap[0];
    if (first === undefined || first.dueMs > nowMs) return undefined;
    this.#pop();
    this.#due.delete(first.key);
    return first.key;
  }

  #dropStale(): void {
    for (let first = this.#heap[0]; first !== undefined; first = this.#heap[0]) {
      if (this.#due.get(first.key) === first.dueMs) return;
      this.#pop();
    }
  }

  #rebuild(): void {
    const entries = [...this.#due].map(([key, dueMs]) => ({ key, dueMs }));
    // A sorted list is a heap.
    this.#heap = entries.sort((a, b) => a.dueMs - b.dueMs);
  }

  #push(entry: Entry<K>): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push(entry);
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = heap[parentIndex];
      if (parent === undefined || parent.dueMs <= entry.dueMs) break;
      heap[index] = parent;
      index = parentIndex;
    }
    heap[index] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let index = 0;
    for (;;) {
      let childIndex = 2 * index + 1;
      let child = heap[childIndex];
      if (child === undefined) break;
      const right = heap[childIndex + 1];
      if (right !== undefined && right.dueMs < child.dueMs) [child, childIndex] = [right, childIndex + 1];
      if (child.dueMs >= last.dueMs) break;
      heap[index] = child;
      index = childIndex;
    }
    heap[index] = last;
  }
}
