import { assertEquals, assertThrows } from "@std/assert";
import { decodeBytes } from "../../contracts/codec.ts";
import { FleetError } from "../../contracts/errors.ts";
import { LAST_DRAIN_MAX_BYTES } from "../../contracts/limits.ts";
import { STARTED_AT, uuidOf } from "../../tests/fakes/agent_samples.ts";
import { LAST_DRAIN_SCHEMA, lastDrain } from "./last_drain.ts";

const SAMPLE = { schema: LAST_DRAIN_SCHEMA, attemptId: uuidOf(1), drainMs: 12, at: STARTED_AT };

Deno.test("lastDrain takes its own schema and refuses a newer one", () => {
  assertEquals(lastDrain(SAMPLE, ""), SAMPLE);
  assertThrows(() => lastDrain({ ...SAMPLE, schema: LAST_DRAIN_SCHEMA + 1 }, ""), FleetError, "schema: ");
});

for (const extra of [-1, 0, 1]) {
  Deno.test(`lastDrain of ${LAST_DRAIN_MAX_BYTES + extra} bytes`, () => {
    const text = JSON.stringify(SAMPLE).padEnd(LAST_DRAIN_MAX_BYTES + extra, " ");
    const read = () => decodeBytes(lastDrain, new TextEncoder().encode(text), LAST_DRAIN_MAX_BYTES);
    if (extra <= 0) assertEquals(read(), SAMPLE);
    else assertThrows(read, FleetError, `at most ${LAST_DRAIN_MAX_BYTES}`);
  });
}
