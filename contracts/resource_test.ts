import { assertRejected, assertStrictDecoder } from "../tests/assert/strict_decoder.ts";
import { device } from "../tests/golden/fleet_documents.ts";
import { CONDITIONS_MAX, RESOURCE_NAME_MAX_CHARS } from "./limits.ts";
import { condition, conditions, storedMetadata } from "./resource.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const [ready] = device.status.conditions;

pure("metadata and conditions: strict in every field", () => {
  assertStrictDecoder(storedMetadata, device.metadata);
  assertStrictDecoder(condition, ready);
});

pure("metadata: names at their limit, uid and generation from the store only in their form", () => {
  const named = (chars: number) => ({ ...device.metadata, name: "n".repeat(chars) });
  for (const chars of [1, RESOURCE_NAME_MAX_CHARS - 1, RESOURCE_NAME_MAX_CHARS]) storedMetadata(named(chars), "");
  assertRejected(storedMetadata, named(RESOURCE_NAME_MAX_CHARS + 1), "name");
  assertRejected(storedMetadata, { ...device.metadata, uid: "1" }, "uid");
  assertRejected(storedMetadata, { ...device.metadata, generation: 0 }, "generation");
});

pure("conditions: up to the limit, and the status is one of three words", () => {
  for (const count of [0, CONDITIONS_MAX - 1, CONDITIONS_MAX]) conditions(Array(count).fill(ready), "");
  assertRejected(conditions, Array(CONDITIONS_MAX + 1).fill(ready), "");
  for (const status of ["True", "False", "Unknown"]) condition({ ...ready, status }, "");
  for (const status of ["true", "", true]) assertRejected(condition, { ...ready, status }, "status");
});
