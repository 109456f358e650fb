/**
 * What every resource store does with a kind whose spec never changes, as the CRD's rule `self.spec == oldSelf.spec` has
 * it (DESIGN 3).
 *
 * @module
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { FleetError } from "../../contracts/errors.ts";
import { TASK_RUN_IMMUTABLE, type TaskRunSpec, type TaskRunStatus } from "../../contracts/task_run.ts";
import type { ResourceStore } from "../../operator/stores/port.ts";
import { runSpec } from "../fakes/task_samples.ts";

const STATUS: TaskRunStatus = {
  phase: "Running",
  reason: "AllReleased",
  targets: 2,
  canaries: 0,
  released: 2,
  succeeded: 1,
  failed: 0,
  incapable: 0,
};

/** Registers the tests. */
export function testImmutableSpec(test: (name: string, body: (store: ResourceStore) => Promise<void>) => void): void {
  test("the spec of a run never changes: no member is added, removed or replaced", async (store) => {
    const created = await store.create("TaskRun", { name: "upgrade", labels: {}, spec: runSpec() });
    assert(created.ok);
    const { resourceVersion } = created.resource.metadata;
    const changes: Partial<TaskRunSpec>[] = [
      { allowedGroups: ["edge", "core"] },
      { allowedGroups: ["core"] },
      { targetSelector: { matchLabels: { site: "basel" } } },
      { targetSelector: { matchLabels: {} } },
      { targetSelector: { matchExpressions: [] } },
      { deadlineSeconds: 3_601 },
    ];
    for (const change of changes) {
      const input = { name: "upgrade", labels: {}, spec: runSpec(change) };
      const error = await assertRejects(() => store.replace("TaskRun", input, resourceVersion), FleetError);
      const { code, field, message } = error;
      assertEquals([code, field, message], ["E_STORE_IMMUTABLE", "spec", TASK_RUN_IMMUTABLE.message]);
    }
    assertEquals(await store.get("TaskRun", "upgrade"), created.resource);
  });

  test("labels and status of a run change, and the same spec may be written again", async (store) => {
    const created = await store.create("TaskRun", { name: "upgrade", labels: {}, spec: runSpec() });
    assert(created.ok);
    const input = { name: "upgrade", labels: { team: "edge" }, spec: runSpec() };
    const labelled = await store.replace("TaskRun", input, created.resource.metadata.resourceVersion);
    assert(labelled.ok);
    assertEquals([labelled.resource.metadata.labels, labelled.resource.metadata.generation], [{ team: "edge" }, 1]);
    const { resourceVersion } = labelled.resource.metadata;
    const reported = await store.replaceStatus("TaskRun", "upgrade", STATUS, resourceVersion);
    assert(reported.ok);
    assertEquals([reported.resource.status, reported.resource.spec], [STATUS, runSpec()]);
  });

  test("a run that is deleted and made again is another run", async (store) => {
    const first = await store.create("TaskRun", { name: "upgrade", labels: {}, spec: runSpec() });
    assertEquals(await store.delete("TaskRun", "upgrade"), { ok: true });
    const spec = runSpec({ deadlineSeconds: 60 });
    const second = await store.create("TaskRun", { name: "upgrade", labels: {}, spec });
    assert(first.ok && second.ok && first.resource.metadata.uid !== second.resource.metadata.uid);
  });

  test("a run's spec with a member that nothing would obey is refused", async (store) => {
    const bold = { ...runSpec(), systemUpgradeV1: { packages: ["vim"] } };
    const work = () => store.create("TaskRun", { name: "upgrade", labels: {}, spec: bold });
    const { code, field } = await assertRejects(work, FleetError);
    assertEquals([code, field], ["E_DECODE", "spec.systemUpgradeV1.packages"]);
    assertEquals(await store.list("TaskRun"), []);
  });
}
