import { assertEquals } from "@std/assert";
import { CaughtUp } from "./caught_up.ts";

/** A reader whose newest revision is answered when the test says so. */
function openReader() {
  const questions: PromiseWithResolvers<number>[] = [];
  let times = 0;
  const caughtUp = new CaughtUp(() => {
    const question = Promise.withResolvers<number>();
    questions.push(question);
    return question.promise;
  }, () => times++);
  return {
    caughtUp,
    async answer(newest: number | Error) {
      const question = questions.shift();
      if (newest instanceof Error) question?.reject(newest);
      else question?.resolve(newest);
      await new Promise((resolve) => setTimeout(resolve, 0));
    },
    get asked() {
      return questions.length;
    },
    get times() {
      return times;
    },
  };
}

Deno.test("CaughtUp: the last of what was there ends it", async () => {
  const reader = openReader();
  reader.caughtUp.entry(3, 1);
  assertEquals(reader.asked, 0);
  reader.caughtUp.entry(7, 0);
  assertEquals([reader.asked, reader.times], [1, 0]);
  await reader.answer(7);
  assertEquals(reader.times, 1);
  reader.caughtUp.entry(8, 0);
  reader.caughtUp.idle();
  assertEquals([reader.asked, reader.times], [0, 1]);
});

Deno.test("CaughtUp: a count that reaches zero too early does not end it", async () => {
  const reader = openReader();
  reader.caughtUp.entry(7, 0);
  await reader.answer(12);
  assertEquals(reader.times, 0);
  reader.caughtUp.entry(11, 5);
  assertEquals(reader.times, 0);
  reader.caughtUp.entry(13, 5);
  assertEquals(reader.times, 1);
});

Deno.test("CaughtUp: what came while it asked counts", async () => {
  const reader = openReader();
  reader.caughtUp.entry(7, 0);
  reader.caughtUp.entry(9, 3);
  await reader.answer(9);
  assertEquals(reader.times, 1);
});

Deno.test("CaughtUp: a count that never reaches zero is made up for by the server's idleness", async () => {
  const reader = openReader();
  reader.caughtUp.entry(7, 2);
  reader.caughtUp.idle();
  reader.caughtUp.idle();
  assertEquals(reader.asked, 1);
  await reader.answer(new Error("no answer"));
  assertEquals(reader.times, 0);
  reader.caughtUp.idle();
  await reader.answer(7);
  assertEquals(reader.times, 1);
});

Deno.test("CaughtUp: an empty bucket, and one that is emptied", async () => {
  const reader = openReader();
  reader.caughtUp.idle();
  await reader.answer(0);
  assertEquals(reader.times, 1);
  const emptied = openReader();
  emptied.caughtUp.entry(7, 0);
  await emptied.answer(9);
  emptied.caughtUp.idle();
  await emptied.answer(0);
  assertEquals(emptied.times, 1);
});

Deno.test("CaughtUp: under steady writes the first answer stands", async () => {
  const reader = openReader();
  reader.caughtUp.entry(7, 0);
  await reader.answer(10);
  reader.caughtUp.entry(8, 0);
  await reader.answer(20);
  reader.caughtUp.entry(10, 9);
  assertEquals(reader.times, 1);
});

Deno.test("CaughtUp: nothing after its end", async () => {
  const reader = openReader();
  reader.caughtUp.entry(7, 0);
  reader.caughtUp.stop();
  await reader.answer(7);
  reader.caughtUp.entry(8, 0);
  assertEquals([reader.asked, reader.times], [0, 0]);
});
