import { assertEquals, assertRejects } from "@std/assert";
import { settle } from "../tests/fakes/fake_clock.ts";
import { MutationGate } from "./mutation_gate.ts";

Deno.test("MutationGate admits nothing before it is opened and after it is closed", async () => {
  const gate = new MutationGate();
  const mutation = () => Promise.resolve("done");
  assertEquals(await gate.run(mutation), { admitted: false });
  gate.open();
  assertEquals(await gate.run(mutation), { admitted: true, value: "done" });
  gate.close();
  assertEquals(await gate.run(mutation), { admitted: false });
});

Deno.test("MutationGate is idle when the last mutation has ended, whether well or not", async () => {
  const gate = new MutationGate();
  await gate.idle();
  gate.open();
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  const runs = [gate.run(() => first.promise), gate.run(() => second.promise)];
  gate.close();
  let idle = false;
  gate.idle().then(() => idle = true);
  first.resolve();
  await settle();
  assertEquals(idle, false);
  second.reject(new Error("failed"));
  await assertRejects(() => Promise.all(runs), Error, "failed");
  await gate.idle();
});
