import { assertEquals } from "@std/assert";
import type { FleetDeployment } from "../../../contracts/fleet_deployment.ts";
import { deployment } from "../../../tests/fakes/operator_samples.ts";
import { type DeploymentStatusFacts, nextDeploymentStatus } from "../../policy/deployment_status.ts";
import { deploymentAdvice } from "./deployment_advice.ts";
import { deploymentState } from "./deployment_state.ts";

/** A deployment with the status that the operator writes. */
function withStatus(changes: Partial<DeploymentStatusFacts> = {}): FleetDeployment {
  const sample = deployment({ name: "web", targetSelector: { matchLabels: { site: "lab", rack: "7" } } });
  const spec = changes.spec ?? sample.spec;
  const status = nextDeploymentStatus(undefined, {
    nowMs: 0,
    generation: 1,
    counts: { targets: 2, ready: 2, failed: 0, pending: 0 },
    placing: false,
    latestError: null,
    ...changes,
    spec,
  });
  return { ...sample, spec, status };
}

Deno.test("deploymentState() and the advice understand what the operator writes", () => {
  const counts = (ready: number, failed: number, pending: number) => ({
    counts: { targets: ready + failed + pending, ready, failed, pending },
  });
  const closed = { ...deployment({ name: "web" }).spec, targetSelector: { matchExpressions: [] } };
  const cases: [FleetDeployment, string, string[]][] = [
    [deployment({ name: "web" }), "New", ["NoStatus"]],
    [withStatus({ generation: 7 }), "New", ["NoStatus"]],
    [withStatus({ spec: closed, ...counts(0, 0, 0) }), "NotAccepted", ["NotAccepted"]],
    [withStatus({ placing: true, ...counts(1, 1, 0) }), "Placing", []],
    [withStatus(counts(0, 0, 0)), "NoTargets", ["NoTargets"]],
    [withStatus(), "Ready", []],
    [withStatus(counts(1, 0, 1)), "Pending", ["Pending"]],
    [withStatus(counts(1, 1, 1)), "Degraded", ["DevicesFailed"]],
  ];
  for (const [one, state, codes] of cases) {
    assertEquals([deploymentState(one), deploymentAdvice(one).map(({ code }) => code)], [state, codes]);
  }
});

Deno.test("the advice for a deployment without targets has the labels to look for", () => {
  const [advice] = deploymentAdvice(withStatus({ counts: { targets: 0, ready: 0, failed: 0, pending: 0 } }));
  assertEquals(advice?.steps, [
    "compare allowedGroups and targetSelector with the devices: fleetctl get devices -l site=lab -l rack=7",
  ]);
});
