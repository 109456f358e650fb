import { assert } from "@std/assert";
import { assertRejected, assertStrictDecoder } from "../tests/assert/strict_decoder.ts";
import { WIRE_SAMPLES } from "../tests/golden/wire_samples.ts";
import { desiredEntry, desiredGeneration, GENERATION_TOKEN } from "./desired_state.ts";
import { uuid } from "./formats.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function sample(name: string): Record<string, unknown> {
  const found = WIRE_SAMPLES.find((candidate) => candidate.name === name);
  assert(found !== undefined);
  return found.document as Record<string, unknown>;
}

pure("desired generation: strict in every field", () => {
  const document = sample("desired_generation");
  assertStrictDecoder(desiredGeneration, document);
  assertRejected(desiredGeneration, { ...document, generation: 0 }, "generation");
  desiredGeneration({ ...document, entries: 0 }, "");
  assertRejected(desiredGeneration, { ...document, entries: -1 }, "entries");
});

pure("desired entry: strict in every field, whatever else the workload says", () => {
  const document = sample("desired_entry");
  assertStrictDecoder(desiredEntry, document);
  desiredEntry({ ...document, podmanV0: { containers: [] } }, "");
});

pure("the generation's token is no deployment id", () => assertRejected(uuid, GENERATION_TOKEN, ""));
