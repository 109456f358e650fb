import { assertEquals } from "@std/assert";
import { DelayQueue } from "./delay_queue.ts";

function drain(queue: DelayQueue<string>, nowMs: number): string[] {
  const keys: string[] = [];
  for (let key = queue.take(nowMs); key !== undefined; key = queue.take(nowMs)) keys.push(key);
  return keys;
}

Deno.test("keys come when they are due, in order of time", () => {
  const queue = new DelayQueue<string>();
  queue.add("c", 30);
  queue.add("a", 10);
  queue.add("b", 20);
  assertEquals(queue.nextDueMs, 10);
  assertEquals(drain(queue, 9), []);
  assertEquals(drain(queue, 20), ["a", "b"]);
  assertEquals([queue.size, queue.nextDueMs], [1, 30]);
  assertEquals(drain(queue, 30), ["c"]);
  assertEquals([queue.size, queue.nextDueMs], [0, undefined]);
});

Deno.test("a key is due once, at the earlier time", () => {
  const queue = new DelayQueue<string>();
  queue.add("a", 10);
  queue.add("a", 20);
  queue.add("a", 5);
  assertEquals(drain(queue, 100), ["a"]);
  queue.add("a", 10);
  queue.delete("a");
  queue.add("a", 50);
  assertEquals(drain(queue, 49), []);
  assertEquals(drain(queue, 50), ["a"]);
});

Deno.test("any order of calls gives what a plain list gives", () => {
  const seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 1;
  let state = seed;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
  const queue = new DelayQueue<string>();
  const plain = new Map<string, number>();
  let nowMs = 0;
  for (let step = 0; step < 20_000; step++) {
    const key = `k${random(200)}`;
    const dueMs = nowMs + random(1_000);
    const action = random(10);
    if (action === 0) {
      queue.delete(key);
      plain.delete(key);
    } else if (action < 9) {
      queue.add(key, dueMs);
      plain.set(key, Math.min(plain.get(key) ?? Infinity, dueMs));
    } else {
      nowMs += random(200);
      const expected = [...plain].filter(([, due]) => due <= nowMs).map(([name]) => name).sort();
      for (const name of expected) plain.delete(name);
      assertEquals(drain(queue, nowMs).sort(), expected, `seed ${seed}`);
    }
  }
});
