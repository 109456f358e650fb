import { assertEquals, assertRejects } from "@std/assert";
import { FleetError } from "../../../contracts/errors.ts";
import { CONFLICT_RETRIES_MAX } from "../../../contracts/limits.ts";
import { MemoryFleet, sampleDeviceStatus } from "../../../tests/fakes/memory_fleet.ts";
import type { ResourceStore } from "../../stores/port.ts";
import type { DeviceInput } from "../manifest/manifest_input.ts";
import { applyInput } from "./apply_inputs.ts";

const INPUT: DeviceInput = { kind: "Device", name: "d1", spec: { groups: ["edge"] } };

/** A store in which somebody else writes before each replace, a number of times. */
function contended(store: ResourceStore, times: number): ResourceStore {
  let left = times;
  return {
    list: (kind) => store.list(kind),
    get: (kind, name) => store.get(kind, name),
    create: (kind, input) => store.create(kind, input),
    replace: async (kind, input, version) => {
      if (left-- > 0) {
        const status = sampleDeviceStatus({ agentVersion: `1.0.${left}` });
        await store.replaceStatus("Device", input.name, status, version);
      }
      return await store.replace(kind, input, version);
    },
    replaceStatus: (kind, name, status, version) => store.replaceStatus(kind, name, status, version),
    delete: (kind, name, version) => store.delete(kind, name, version),
    watch: (kind, signal) => store.watch(kind, signal),
  };
}

Deno.test("applyInput() creates, configures and leaves alone", async () => {
  const { store } = await MemoryFleet.open();
  assertEquals((await applyInput(store, INPUT)).action, "created");
  assertEquals((await applyInput(store, INPUT)).action, "unchanged");
  assertEquals((await applyInput(store, { ...INPUT, spec: { groups: [] } })).action, "configured");
  assertEquals((await store.get("Device", "d1"))?.spec.groups, []);
});

Deno.test("applyInput() repeats on the newest state while the operator writes status, up to its bound", async () => {
  const { store } = await MemoryFleet.open();
  await applyInput(store, { ...INPUT, spec: { groups: [] } });
  assertEquals((await applyInput(contended(store, CONFLICT_RETRIES_MAX), INPUT)).action, "configured");
  assertEquals((await store.get("Device", "d1"))?.status?.agentVersion, "1.0.0");
  const other = { ...INPUT, spec: { groups: ["other"] } };
  const error = await assertRejects(() => applyInput(contended(store, CONFLICT_RETRIES_MAX + 1), other), FleetError);
  assertEquals(error.code, "E_CONFLICT");
  assertEquals(error.message, "Cannot apply device/d1: others changed it 17 times in between");
  assertEquals((await store.get("Device", "d1"))?.spec.groups, ["edge"]);
});

Deno.test("applyInput() takes a resource that somebody else creates in between", async () => {
  const { store } = await MemoryFleet.open();
  const late: ResourceStore = {
    ...contended(store, 0),
    create: async (kind, input) => {
      await store.create("Device", { name: "d1", labels: { by: "other" }, spec: { groups: ["other"] } });
      return await store.create(kind, input);
    },
  };
  const result = await applyInput(late, INPUT);
  assertEquals(result.action, "configured");
  const stored = await store.get("Device", "d1");
  assertEquals([stored?.spec.groups, stored?.metadata.labels?.by], [["edge"], "other"]);
});

Deno.test("applyInput() does not overwrite a spec that changed since the document was read", async () => {
  const { store } = await MemoryFleet.open();
  await applyInput(store, INPUT);
  await applyInput(store, { ...INPUT, spec: { groups: ["newer"] } });
  const error = await assertRejects(() => applyInput(store, { ...INPUT, generation: 1 }), FleetError);
  assertEquals(error.code, "E_CONFLICT");
  assertEquals((await store.get("Device", "d1"))?.spec.groups, ["newer"]);
});

Deno.test("applyInput() reads again after a write without an answer, and repeats it only if it did not happen", async () => {
  for (const lost of ["applied", "not-applied"] as const) {
    const { store, bus } = await MemoryFleet.open();
    bus.loseNextAnswer = lost;
    assertEquals((await applyInput(store, INPUT)).action, "created", lost);
    // The document was read at the generation that its own write replaces.
    bus.loseNextAnswer = lost;
    const changed = { ...INPUT, spec: { groups: ["other"] }, generation: 1 };
    assertEquals((await applyInput(store, changed)).action, "configured", lost);
    const stored = await store.get("Device", "d1");
    assertEquals([stored?.spec.groups, stored?.metadata.generation], [["other"], 2], lost);
  }
});
