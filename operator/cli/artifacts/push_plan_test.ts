import { assertEquals, assertThrows } from "@std/assert";
import { FleetError } from "../../../contracts/errors.ts";
import { ARTIFACT_MAX_BYTES } from "../../../contracts/limits.ts";
import { agentLayer, manifestFor, ociDocument } from "../../../contracts/oci_artifact.ts";
import type { ArtifactKind } from "./artifact_kind.ts";
import { type PushDocument, type PushFile, pushPlan } from "./push_plan.ts";

const file = (path: string, kind: ArtifactKind | null, sizeBytes = 7): PushFile => ({
  path,
  kind,
  sizeBytes,
  sha256: path.charCodeAt(0).toString(16).padStart(64, "0"),
});
const AMD = file("a", { form: "compiled", arch: "x86_64" });
const ARM = file("b", { form: "compiled", arch: "aarch64" });
const SCRIPT = file("c", { form: "script" });
const read = ({ bytes }: PushDocument) => ociDocument(JSON.parse(new TextDecoder().decode(bytes)), undefined);

Deno.test("pushPlan() names one agent by its manifest, several by an index, and is the same each time", () => {
  const one = pushPlan([AMD], "1.4.0", []);
  const document = read(one.top);
  assertEquals(document.kind === "manifest" ? agentLayer(document.manifest).digest : "", `sha256:${AMD.sha256}`);
  assertEquals([one.manifests.length, one.top.digest], [0, pushPlan([AMD], "1.4.0", []).top.digest]);
  const two = pushPlan([AMD, ARM], "1.4.0", []);
  const index = read(two.top);
  assertEquals(index.kind === "index" ? manifestFor(index.entries, "aarch64").digest : "", two.manifests[1]?.digest);
  assertEquals(two.manifests[0]?.digest, one.top.digest);
});

Deno.test("pushPlan() takes a script for every architecture, or for those that are named", () => {
  const archesOf = (...arches: ("x86_64" | "aarch64")[]) =>
    pushPlan([SCRIPT], "1.4.0", arches).agents.map(({ arch, form }) => `${arch} ${form}`);
  assertEquals(archesOf(), ["x86_64 script", "aarch64 script"]);
  assertEquals(archesOf("aarch64"), ["aarch64 script"]);
});

Deno.test("pushPlan() refuses what no device could take", () => {
  const problemOf = (files: PushFile[], ...arches: ("x86_64" | "aarch64")[]) => {
    const error = assertThrows(() => pushPlan(files, "1.4.0", arches), FleetError);
    assertEquals(error.code, "E_USAGE");
    return error.message;
  };
  assertEquals(problemOf([AMD, file("d", AMD.kind)]), "Cannot push two agents for x86_64: a and d");
  assertEquals(problemOf([AMD, file("c", { form: "script" })], "x86_64"), "Cannot push two agents for x86_64: a and c");
  assertEquals(
    problemOf([ARM], "x86_64"),
    "Cannot push b: it is a program for aarch64, --arch says x86_64",
  );
  assertEquals(
    problemOf([file("x", null)]),
    "Cannot push x: it is neither a program for x86_64 or aarch64 nor a script that begins with #!",
  );
});

for (const extra of [-1, 0, 1]) {
  Deno.test(`pushPlan() with a file of ${ARTIFACT_MAX_BYTES + extra} bytes`, () => {
    const push = () => pushPlan([file("a", AMD.kind, ARTIFACT_MAX_BYTES + extra)], "1.4.0", []);
    if (extra <= 0) assertEquals(push().agents.length, 1);
    else assertThrows(push, FleetError, "no device takes more than");
  });
}
