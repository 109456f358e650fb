import { assertEquals } from "@std/assert";
import type { FleetDeploymentStatus } from "../../contracts/fleet_deployment.ts";
import { FakeClock } from "../../tests/fakes/fake_clock.ts";
import { deployment } from "../../tests/fakes/operator_samples.ts";
import { WriteThrottle } from "../runtime/write_throttle.ts";
import { DeploymentReconciler } from "./deployment_reconciler.ts";
import { DeploymentView } from "./deployment_view.ts";

/** A reconciler whose writes are listed as reason of `Ready` and number of targets. */
function world() {
  const [clock, view, written] = [new FakeClock(), new DeploymentView(), [] as string[]];
  let version = 1;
  const reconciler = new DeploymentReconciler({
    view,
    writes: {
      writeStatus: (resource, status: FleetDeploymentStatus) => {
        written.push(`${status.conditions?.[1]?.reason} ${status.targets}`);
        const metadata = { ...resource.metadata, resourceVersion: `w${++version}` };
        return Promise.resolve({ ok: true, resource: { ...resource, metadata, status } });
      },
    },
    time: { nowMs: () => clock.nowMs() },
    throttle: new WriteThrottle(1_000, clock),
  });
  const told = (id: string) => {
    const uid = view.named("web")?.uid ?? "";
    view.putEntry(id, uid, { revision: 1, name: "web", digest: "x", generation: 1 });
  };
  return { clock, view, written, reconciler, told };
}

Deno.test("several changes within the interval are one write", async () => {
  const { clock, reconciler, told, view, written } = world();
  view.putDeployment(deployment({ name: "web" }));
  assertEquals(await reconciler.reconcile("web"), null);
  told("d1");
  assertEquals(await reconciler.reconcile("web"), 1_000);
  told("d2");
  await clock.advance(400);
  assertEquals(await reconciler.reconcile("web"), 600);
  await clock.advance(600);
  assertEquals(await reconciler.reconcile("web"), null);
  assertEquals(await reconciler.reconcile("web"), null);
  assertEquals(written, ["NoTargets 0", "NotAllReady 2"]);
});

Deno.test("a new spec counts while its devices are told; a start of the operator waits until they were looked at", async () => {
  const { clock, reconciler, told, view, written } = world();
  view.putDeployment(deployment({ name: "web" }));
  view.placing.add("web");
  for (const id of ["d1", "d2"]) {
    await reconciler.reconcile("web");
    told(id);
    await clock.advance(1_000);
  }
  view.placing.delete("web");
  await reconciler.reconcile("web");
  assertEquals(written, ["Placing 0", "Placing 1", "NotAllReady 2"]);
  view.placing.add("web");
  told("d3");
  await clock.advance(1_000);
  assertEquals(await reconciler.reconcile("web"), null);
  assertEquals(written.length, 3);
  view.placing.delete("web");
  await reconciler.reconcile("web");
  assertEquals(written.at(-1), "NotAllReady 3");
});

Deno.test("a deployment that is gone is not written", async () => {
  const { reconciler, view, written } = world();
  view.putDeployment(deployment({ name: "web" }));
  view.dropDeployment("web", true);
  assertEquals([await reconciler.reconcile("web"), written], [null, []]);
});
