import { assertEquals } from "@std/assert";
import { OCI_INDEX_TYPE } from "../../../contracts/oci_artifact.ts";
import { assertGolden } from "../../../tests/golden/golden.ts";
import { plainPaint } from "../render/paint.ts";
import type { Inspection } from "./inspect_artifact.ts";
import { pushPlan } from "./push_plan.ts";
import { inspectionProblem, releaseArtifacts, renderInspection, renderPushed } from "./render_artifact.ts";

const LAYOUT = { width: null, paint: plainPaint };
const TAGGED = "oci://registry.example/fleet/agent:1.5.0";

const FILES = [
  {
    path: "bin/x86_64/fleet-agent",
    sizeBytes: 73_400_320,
    sha256: "5f".repeat(32),
    kind: { form: "compiled", arch: "x86_64" },
  },
  {
    path: "bin/aarch64/fleet-agent",
    sizeBytes: 70_254_592,
    sha256: "a1".repeat(32),
    kind: { form: "compiled", arch: "aarch64" },
  },
] as const;

Deno.test("a push is shown with what a release says of it", async () => {
  const plan = pushPlan(FILES, "1.5.0", []);
  const { digest } = plan.top;
  const url = `oci://registry.example/fleet/agent@${digest}`;
  const artifacts = plan.agents.map(({ arch, form, file }) => (
    { arch, form, url, sha256: file.sha256, maxBytes: file.sizeBytes }
  ));
  const result = { digest, sent: new Set([FILES[1].sha256]), unchanged: false };
  const text = renderPushed({ reference: TAGGED, version: "1.5.0", plan, result, artifacts }, LAYOUT);
  await assertGolden("fleetctl/artifact_push.txt", text);
  const again = renderPushed(
    { reference: TAGGED, version: "1.5.0", plan, result: { ...result, unchanged: true }, artifacts },
    LAYOUT,
  );
  assertEquals(again.split("\n")[0], `Pushed:        ${TAGGED} (it was there)`);
});

const INSPECTION: Inspection = {
  kind: "index",
  digest: `sha256:${"3c".repeat(32)}`,
  mediaType: OCI_INDEX_TYPE,
  agents: [
    {
      arch: "x86_64",
      form: "compiled",
      version: "1.5.0",
      url: `oci://registry.example/fleet/agent@sha256:${"3c".repeat(32)}`,
      sha256: "5f".repeat(32),
      sizeBytes: 73_400_320,
      mediaType: "application/vnd.nationtech.harmony.fleet-agent.binary.v1",
    },
    {
      arch: "aarch64",
      version: "1.5.0",
      url: `oci://registry.example/fleet/agent@sha256:${"3c".repeat(32)}`,
      sha256: "a1".repeat(32),
      sizeBytes: 152,
      problem: "it is neither a program for x86_64 or aarch64 nor a script that begins with #!",
    },
  ],
};

Deno.test("an inspection is shown with why a device refuses it, and what a release says of the rest", async () => {
  const text = renderInspection(TAGGED, INSPECTION, LAYOUT);
  await assertGolden("fleetctl/artifact_inspect.txt", text);
  assertEquals(inspectionProblem(INSPECTION), "a device of aarch64 would refuse it");
  assertEquals(inspectionProblem({ ...INSPECTION, agents: [] }), "the index has no agent for any architecture");
  assertEquals(releaseArtifacts(INSPECTION.agents).map(({ arch }) => arch), ["x86_64"]);
});
