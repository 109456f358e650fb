import { assertEquals, assertRejects } from "@std/assert";
import { FleetError } from "../../../contracts/errors.ts";
import { CONFLICT_RETRIES_MAX } from "../../../contracts/limits.ts";
import { MemoryFleet, sampleReleaseStatus } from "../../../tests/fakes/memory_fleet.ts";
import type { ResourceStore } from "../../stores/port.ts";
import { changeRelease } from "./change_release.ts";

/** A store in which somebody else does something before each replace, a number of times. */
function contended(store: ResourceStore, times: number, meanwhile: () => Promise<unknown>): ResourceStore {
  let left = times;
  return {
    ...Object.fromEntries(
      (["list", "get", "create", "replaceStatus", "delete", "watch"] as const).map((
        name,
      ) => [name, Reflect.get(store, name).bind(store)]),
    ) as unknown as ResourceStore,
    replace: async (kind, input, version) => {
      if (left-- > 0) await meanwhile();
      return await store.replace(kind, input, version);
    },
  };
}

async function writeStatus(store: ResourceStore, targets: number): Promise<void> {
  const release = await store.get("AgentRelease", "r");
  await store.replaceStatus(
    "AgentRelease",
    "r",
    sampleReleaseStatus({ targets }),
    release?.metadata.resourceVersion ?? "",
  );
}

Deno.test("changeRelease() gets through while the operator writes status, up to its bound", async () => {
  const { store, release } = await withRelease();
  let targets = 0;
  const busy = (times: number) => contended(store, times, () => writeStatus(store, ++targets));
  assertEquals((await changeRelease(busy(CONFLICT_RETRIES_MAX), "r", "pause")).kind, "changed");
  assertEquals((await release())?.spec.paused, true);
  const error = await assertRejects(() => changeRelease(busy(CONFLICT_RETRIES_MAX + 1), "r", "resume"), FleetError);
  assertEquals(error.code, "E_CONFLICT");
  assertEquals((await release())?.spec.paused, true);
});

Deno.test("changeRelease() keeps what somebody else changed in the spec meanwhile", async () => {
  const { store, release } = await withRelease();
  const other = contended(store, 1, () => changeRelease(store, "r", "pause"));
  await changeRelease(other, "r", "retry");
  const spec = (await release())?.spec;
  assertEquals([spec?.paused, spec?.revision], [true, 2]);
});

Deno.test("changeRelease() raises the revision once for two retries at once", async () => {
  const { store, release } = await withRelease();
  const other = contended(store, 1, () => changeRelease(store, "r", "retry"));
  assertEquals((await changeRelease(other, "r", "retry")).kind, "unchanged");
  assertEquals((await release())?.spec.revision, 2);
});

Deno.test("changeRelease() tells a release that is not there, or goes meanwhile", async () => {
  const { store } = await withRelease();
  assertEquals(await changeRelease(store, "nobody", "pause"), { kind: "missing" });
  const gone = contended(store, 1, () => store.delete("AgentRelease", "r"));
  assertEquals(await changeRelease(gone, "r", "pause"), { kind: "missing" });
});

Deno.test("changeRelease() retries once, whether a write without an answer happened or not", async () => {
  for (const lost of ["applied", "not-applied"] as const) {
    for (const change of ["retry", "pause"] as const) {
      const { store, release, bus } = await withRelease();
      bus.loseNextAnswer = lost;
      const changed = await changeRelease(store, "r", change);
      assertEquals(changed.kind, "changed", `${lost}, ${change}`);
      const spec = (await release())?.spec;
      assertEquals([spec?.revision, spec?.paused], change === "retry" ? [2, false] : [1, true], lost);
    }
  }
});

async function withRelease() {
  const fleet = await MemoryFleet.open();
  await fleet.release("r");
  return { store: fleet.store, bus: fleet.bus, release: () => fleet.store.get("AgentRelease", "r") };
}
