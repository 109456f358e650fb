import { assert, assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { AGENT_ARTIFACT_TYPE, AGENT_LAYER_TYPE, ociTag } from "../contracts/oci_artifact.ts";
import { type AgentArtifact, writeOciLayout } from "./oci_layout.ts";

async function agent(dir: string, form: AgentArtifact["form"], ...archs: AgentArtifact["arch"][]) {
  const bytes = new TextEncoder().encode(`${form} ${archs}`);
  const path = join(dir, `${form}-${archs}`);
  await Deno.writeFile(path, bytes);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return archs.map((arch): AgentArtifact => ({ arch, form, path, sizeBytes: bytes.length, sha256 }));
}

Deno.test("writeOciLayout() writes an index per form, and every blob under its digest", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const agents = [
      ...await agent(dir, "compiled", "x86_64"),
      ...await agent(dir, "compiled", "aarch64"),
      ...await agent(dir, "script", "x86_64", "aarch64"),
    ];
    const layout = join(dir, "oci");
    const tags = await writeOciLayout(layout, "1.2.3+b.4", agents);
    assertEquals(Object.keys(tags), ["1.2.3_b.4", "1.2.3_b.4-script"]);
    assertEquals(await Deno.readTextFile(join(layout, "oci-layout")), '{"imageLayoutVersion":"1.0.0"}\n');

    const blob = async (digest: string) => {
      const bytes = await Deno.readFile(join(layout, "blobs", "sha256", digest.replace("sha256:", "")));
      assertEquals(`sha256:${createHash("sha256").update(bytes).digest("hex")}`, digest);
      return new TextDecoder().decode(bytes);
    };
    const root = JSON.parse(await Deno.readTextFile(join(layout, "index.json")));
    for (const [position, form] of (["compiled", "script"] as const).entries()) {
      const tag = root.manifests[position];
      assertEquals(tag.digest, tags[ociTag("1.2.3+b.4", form)]);
      const index = JSON.parse(await blob(tag.digest));
      const platforms = index.manifests.map((entry: { platform: unknown }) => entry.platform);
      assertEquals(platforms, [{ architecture: "amd64", os: "linux" }, { architecture: "arm64", os: "linux" }]);
      for (const [which, entry] of index.manifests.entries()) {
        const text = await blob(entry.digest);
        assertEquals(entry.size, text.length);
        const manifest = JSON.parse(text);
        const wanted = agents.filter((candidate) => candidate.form === form)[which];
        assert(wanted !== undefined);
        assertEquals([manifest.artifactType, manifest.layers.length], [AGENT_ARTIFACT_TYPE, 1]);
        const [layer] = manifest.layers;
        assertEquals(layer, {
          mediaType: AGENT_LAYER_TYPE,
          digest: `sha256:${wanted.sha256}`,
          size: wanted.sizeBytes,
        });
        await blob(layer.digest);
        assertEquals(await blob(manifest.config.digest), atob(manifest.config.data));
      }
    }
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("writeOciLayout() leaves out a form that was not built", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const tags = await writeOciLayout(join(dir, "oci"), "1.0.0", await agent(dir, "script", "x86_64", "aarch64"));
    assertEquals(Object.keys(tags), ["1.0.0-script"]);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
