import { assertEquals, assertNotEquals } from "@std/assert";
import { podmanV0, type WorkloadContainer } from "../../contracts/podman_workload.ts";
import { workload } from "../../tests/golden/deployment_documents.ts";
import { containerOf, entryOf, ownerOf } from "../../tests/fakes/workload_samples.ts";
import { ownershipOf } from "./container_labels.ts";
import { containerSpec, specDigests } from "./container_spec.ts";

const [FULL, BARE] = podmanV0(workload, "").containers as [WorkloadContainer, WorkloadContainer];

Deno.test("specDigests(): version 1 is what devices have in their labels, and never changes", () => {
  assertEquals(specDigests(FULL), { v1: "8ed6e6f21dba0f698ebb11150bbfcd3a019f28d9d1ca19b92a6933ab2314085d" });
  assertEquals(specDigests(BARE), { v1: "089b0b1bd352635b8f4dceaef045bdddc62f8254764148843d61ac375edec0ce" });
});

Deno.test("specDigests(): every member but the pull policy makes another container", () => {
  const changes: Partial<WorkloadContainer>[] = [
    { image: "localhost/metrics:2" },
    { entrypoint: ["/bin/other"] },
    { command: ["x"] },
    { env: { A: "1" } },
    { ports: [{ containerPort: 1, hostPort: 1 }] },
    { volumes: [{ type: "named", source: "v", target: "/v" }] },
    { user: "1" },
    { networkMode: "host" },
    { restartPolicy: "no" },
    { stopTimeoutSeconds: 11 },
    { labels: { a: "b" } },
  ];
  const digests = [BARE, ...changes.map((change) => ({ ...BARE, ...change }))].map((container) =>
    specDigests(container).v1
  );
  assertEquals(new Set(digests).size, changes.length + 1);
  assertEquals(specDigests({ ...BARE, pullPolicy: "always" }), specDigests(BARE));
  // Words in another order are other words; variables in another order are the same.
  assertNotEquals(specDigests({ ...BARE, command: ["a", "b"] }), specDigests({ ...BARE, command: ["b", "a"] }));
  assertEquals(specDigests({ ...BARE, env: { A: "1", B: "2" } }), specDigests({ ...BARE, env: { B: "2", A: "1" } }));
});

Deno.test("containerSpec(): a container carries whose it is, over whatever its deployment says", () => {
  const app = containerOf("app", { labels: { team: "shop" } });
  const owner = ownerOf(entryOf(1, [app], 4), app);
  const spec = containerSpec(app, owner, "web-1.app");
  assertEquals(spec.labels.team, "shop");
  assertEquals(ownershipOf(owner.deviceId, spec), owner);
  assertEquals(ownershipOf("device-2", spec), null);
  assertEquals(ownershipOf(owner.deviceId, { ...spec, name: "web-1.app_next" }), owner);
  assertEquals(ownershipOf(owner.deviceId, { ...spec, name: "web-1.app2" }), null);
});
