import { assertEquals } from "@std/assert";
import { AbortableQueue } from "./abortable_queue.ts";

Deno.test("AbortableQueue gives items in order, to a taker that came before or after them", async () => {
  const queue = new AbortableQueue<number>(new AbortController().signal);
  const first = queue.take();
  for (const item of [1, 2, 3]) queue.push(item);
  assertEquals([await first, await queue.take(), await queue.take()], [1, 2, 3]);
  queue.push(4);
  queue.clear();
  queue.push(5);
  assertEquals(await queue.take(), 5);
});

Deno.test("AbortableQueue ends with its signal, with items and a taker waiting", async () => {
  const abort = new AbortController();
  const queue = new AbortableQueue<number>(abort.signal);
  const waiting = queue.take();
  abort.abort();
  assertEquals(await waiting, null);
  queue.push(1);
  assertEquals(await queue.take(), null);
});
