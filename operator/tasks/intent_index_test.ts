import { assertEquals } from "@std/assert";
import { SYSTEM_INTENT_MAX_AGE_S } from "../../contracts/limits.ts";
import { silentLogger } from "../../lib/log.ts";
import { RUN_ID } from "../../tests/fakes/task_samples.ts";
import { IntentIndex } from "./intent_index.ts";

const OTHER = "8d2f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d";

function made(): { index: IntentIndex; told: string[] } {
  const told: string[] = [];
  const index = new IntentIndex({
    onIntent: (runId, deviceId) => told.push(`${deviceId} ${runId === RUN_ID ? "run" : "other"}`),
    share: (id) => id,
    log: silentLogger,
  });
  return { index, told };
}

function entry(key: string, revision: number, deleted = false) {
  return { kind: "entry", entry: { key, revision, deleted, receivedAtMs: revision, value: new Uint8Array() } } as const;
}

Deno.test("IntentIndex: intents come and go, by run", () => {
  const { index, told } = made();
  index.takeEvent(entry(`d1.${RUN_ID}`, 1));
  index.takeEvent(entry(`d2.${OTHER}`, 2));
  assertEquals([[...index.of(RUN_ID).keys()], [...index.of(OTHER).keys()]], [["d1"], ["d2"]]);
  index.takeEvent(entry(`d1.${RUN_ID}`, 3, true));
  assertEquals([index.of(RUN_ID).size, [...index.runIds], told], [0, [OTHER], ["d1 run", "d2 other"]]);
});

Deno.test("IntentIndex: an event that is told late brings no older one back", () => {
  const { index } = made();
  index.put(RUN_ID, "d1", { revision: 9, receivedAtMs: 9 });
  index.takeEvent(entry(`d1.${RUN_ID}`, 5));
  assertEquals(index.of(RUN_ID).get("d1")?.revision, 9);
});

Deno.test("IntentIndex: what does not come again after a restart is gone", () => {
  const { index } = made();
  index.takeEvent(entry(`d1.${RUN_ID}`, 1));
  index.takeEvent(entry(`d2.${RUN_ID}`, 2));
  index.takeEvent({ kind: "restarted" });
  assertEquals(index.of(RUN_ID).size, 2);
  index.takeEvent(entry(`d2.${RUN_ID}`, 2));
  index.takeEvent({ kind: "current" });
  assertEquals([...index.of(RUN_ID).keys()], ["d2"]);
});

Deno.test("IntentIndex: keys that nobody should have written are left out", () => {
  const { index } = made();
  for (const key of ["d1", `D1.${RUN_ID}`, "d1.run", `d1.${RUN_ID}.x`]) index.takeEvent(entry(key, 1));
  assertEquals([...index.runIds], []);
});

Deno.test("IntentIndex: intents that the bucket has dropped for their age are forgotten", () => {
  const { index } = made();
  index.takeEvent(entry(`d1.${RUN_ID}`, 1_000));
  const ageMs = SYSTEM_INTENT_MAX_AGE_S * 1_000;
  index.forgetAged(RUN_ID, 1_000 + ageMs);
  assertEquals(index.of(RUN_ID).size, 1);
  index.forgetAged(RUN_ID, 1_001 + ageMs);
  assertEquals(index.of(RUN_ID).size, 0);
});
