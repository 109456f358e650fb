/** Registries that lie, and what a device makes of it. Every byte is checked; nothing that is only said is believed. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { sha256Hex } from "../../contracts/digest.ts";
import { FETCH_RESUMES_MAX, OCI_MANIFEST_MAX_BYTES } from "../../contracts/limits.ts";
import { OCI_INDEX_TYPE, OCI_MANIFEST_TYPE } from "../../contracts/oci_artifact.ts";
import { startArtifactHost } from "../tls/artifact_host.ts";
import {
  artifactBytes,
  type ArtifactWorld,
  forget,
  install,
  type InstallOutcome,
  withArtifactWorld,
} from "./artifact_world.ts";
import { indexOver, manifestOver, type ScriptedRegistry, startScriptedRegistry } from "./servers/scripted_registry.ts";

const BYTES = artifactBytes(100_000);
const SHA256 = sha256Hex(BYTES);
const ARCHITECTURE = Deno.build.arch === "x86_64" ? "amd64" : "arm64";
const PLATFORM = { architecture: ARCHITECTURE, os: "linux" };

interface HostileWorld extends ArtifactWorld {
  readonly registry: ScriptedRegistry;
  /** Installs what stands under a tag or digest, on a device of its own. */
  of(target: string, maxBytes?: number): Promise<InstallOutcome>;
}

function withRegistry(test: (world: HostileWorld) => Promise<void>): Promise<void> {
  return withArtifactWorld(async (world) => {
    await using registry = startScriptedRegistry(await world.authority.issue());
    const of = async (target: string, maxBytes = BYTES.length) => {
      await forget(world);
      const url = `oci://${registry.host}/agent${target.startsWith("sha256:") ? "@" : ":"}${target}`;
      return await install(world, { url, sha256: SHA256, maxBytes });
    };
    await test({ ...world, registry, of });
  });
}

const layerOf = (registry: ScriptedRegistry, overrides: Record<string, unknown> = {}) => (
  { digest: registry.blob(BYTES), size: BYTES.length, ...overrides }
);

Deno.test("an honest registry, by manifest and by index; what it says of digests is not read", () =>
  withRegistry(async ({ registry, of }) => {
    const manifest = registry.document("one", OCI_MANIFEST_TYPE, manifestOver(layerOf(registry)));
    const index = registry.document("two", OCI_INDEX_TYPE, indexOver([{ ...manifest, platform: PLATFORM }]));
    for (const target of ["one", "two", manifest.digest, index.digest]) {
      assertEquals((await of(target)).verdict, "fetched", target);
    }
    const lie = { "content-type": OCI_MANIFEST_TYPE, "docker-content-digest": index.digest };
    const text = JSON.stringify(manifestOver(layerOf(registry)));
    registry.answer("/v2/agent/manifests/liar", () => new Response(text, { headers: lie }));
    assertEquals((await of("liar")).verdict, "fetched");
    registry.answer(`/v2/agent/manifests/${index.digest}`, () => new Response(text, { headers: lie }));
    const refused = await of(index.digest);
    assertEquals(refused.verdict, "E_FETCH_MANIFEST policy");
    assertStringIncludes(refused.message, `the bytes under ${index.digest} have the digest ${manifest.digest}`);
  }));

Deno.test("manifests and indexes that are not an agent's are refused before a byte of the blob", () =>
  withRegistry(async ({ registry, of }) => {
    const layer = layerOf(registry);
    const manifest = registry.document("honest", OCI_MANIFEST_TYPE, manifestOver(layer));
    const entry = { ...manifest, platform: PLATFORM };
    const nested = registry.document("nested", OCI_INDEX_TYPE, indexOver([entry]));
    const other = registry.blob(artifactBytes(1_000, 2));
    const cases: readonly (readonly [string, string, unknown])[] = [
      ["its layer is", OCI_MANIFEST_TYPE, manifestOver({ digest: other, size: 1_000 })],
      ["has 0 items", OCI_MANIFEST_TYPE, manifestOver(layer, { layers: [] })],
      ["artifactType: is", OCI_MANIFEST_TYPE, manifestOver(layer, { artifactType: "application/x" })],
      ["layers[0].mediaType: is", OCI_MANIFEST_TYPE, manifestOver({ ...layer, mediaType: "application/x" })],
      ["mediaType: is", "text/html", { schemaVersion: 2 }],
      ["a manifest and an index at once", OCI_MANIFEST_TYPE, manifestOver(layer, { manifests: [] })],
      ["has no agents for linux", OCI_INDEX_TYPE, indexOver([])],
      ["has 2 agents for linux", OCI_INDEX_TYPE, indexOver([entry, entry])],
      ["no image manifest", OCI_INDEX_TYPE, indexOver([{ ...nested, platform: PLATFORM }])],
      ["the index says", OCI_INDEX_TYPE, indexOver([{ ...entry, size: manifest.size + 1 }])],
      ["status 404", OCI_INDEX_TYPE, indexOver([{ ...entry, digest: `sha256:${"1".repeat(64)}` }])],
    ];
    for (const [index, [part, mediaType, value]] of cases.entries()) {
      registry.document(`t${index}`, mediaType, value);
      const { verdict, message } = await of(`t${index}`);
      const code = part === "status 404" ? "E_FETCH_STATUS" : "E_FETCH_MANIFEST";
      assertEquals(verdict, `${code} policy`, part);
      assertStringIncludes(message, part);
    }
    const html = new Response("<html>", { headers: { "content-type": OCI_MANIFEST_TYPE } });
    registry.answer("/v2/agent/manifests/html", () => html);
    assertStringIncludes((await of("html")).message, "is no JSON");
    const gzip = { "content-type": OCI_MANIFEST_TYPE, "content-encoding": "gzip" };
    registry.answer("/v2/agent/manifests/gzip", () => new Response("x", { headers: gzip }));
    assertEquals((await of("gzip")).verdict, "E_FETCH_ENCODING policy");
    assert(registry.requests.every(({ path }) => !path.includes("/blobs/")));
  }));

Deno.test("a document is read up to its limit, announced or not", () =>
  withRegistry(async ({ registry, of }) => {
    const text = JSON.stringify(manifestOver(layerOf(registry)));
    for (const extra of [-1, 0, 1]) {
      const padded = new TextEncoder().encode(text.padEnd(OCI_MANIFEST_MAX_BYTES + extra));
      for (const announced of [true, false]) {
        const body = () => announced ? padded : new Blob([padded]).stream();
        const headers = { "content-type": OCI_MANIFEST_TYPE };
        registry.answer("/v2/agent/manifests/large", () => new Response(body(), { headers }));
        const expected = extra > 0 ? "E_FETCH_MANIFEST policy" : "fetched";
        assertEquals((await of("large")).verdict, expected, `${extra} ${announced}`);
      }
    }
  }));

Deno.test("a blob with other bytes, more of them, or fewer, is never installed", () =>
  withRegistry(async ({ registry, of }) => {
    const digest = registry.blob(BYTES);
    registry.document("tag", OCI_MANIFEST_TYPE, manifestOver(layerOf(registry)));
    const answers = [
      [artifactBytes(BYTES.length, 3), "E_DIGEST_MISMATCH policy"],
      [artifactBytes(BYTES.length + 1, 3), "E_FETCH_TOO_LARGE policy"],
      [BYTES.slice(0, -1), "E_DIGEST_MISMATCH policy"],
    ] as const;
    for (const [bytes, verdict] of answers) {
      for (const stream of [false, true]) {
        const body = () => stream ? new Blob([bytes]).stream() : bytes;
        registry.answer(`/v2/agent/blobs/${digest}`, () => new Response(body()));
        const outcome = await of("tag");
        assertEquals([outcome.verdict, outcome.sha256, outcome.left], [verdict, null, []]);
      }
    }
  }));

Deno.test("the size of the layer is held against the attempt's limit", () =>
  withRegistry(async ({ registry, of }) => {
    registry.document("tag", OCI_MANIFEST_TYPE, manifestOver(layerOf(registry)));
    assertEquals((await of("tag", BYTES.length + 1)).verdict, "fetched");
    assertEquals((await of("tag", BYTES.length)).verdict, "fetched");
    assertEquals((await of("tag", BYTES.length - 1)).verdict, "E_FETCH_TOO_LARGE policy");
    // One that claims less than it has is cut where its claim ends.
    registry.document("claim", OCI_MANIFEST_TYPE, manifestOver(layerOf(registry, { size: 10 })));
    assertEquals((await of("claim")).verdict, "E_FETCH_TOO_LARGE policy");
  }));

Deno.test("a registry at an IPv6 address", () =>
  withArtifactWorld(async (world) => {
    await using registry = startScriptedRegistry(await world.authority.issue({ names: ["::1"] }), "::1");
    registry.document("tag", OCI_MANIFEST_TYPE, manifestOver(layerOf(registry)));
    const url = `oci://${registry.host}/agent:tag`;
    assertStringIncludes(url, "oci://[::1]:");
    assertEquals((await install(world, { url, sha256: SHA256, maxBytes: BYTES.length })).verdict, "fetched");
  }));

Deno.test("what an attempt over https has left, one over oci takes up", () =>
  withArtifactWorld(async (world) => {
    const certificate = await world.authority.issue();
    await using host = startArtifactHost({ certificate });
    await using registry = startScriptedRegistry(certificate);
    registry.document("tag", OCI_MANIFEST_TYPE, manifestOver(layerOf(registry)));
    const breaking = { kind: "truncated", bytes: BYTES, afterBytes: 1_000, etag: '"1"' } as const;
    const of = (url: string) => install(world, { url, sha256: SHA256, maxBytes: BYTES.length });
    const broken = await of(host.answer("/agent", breaking));
    assertEquals([broken.verdict, broken.left], ["E_FETCH_TRUNCATED environment", [`.partial-${SHA256}`]]);
    const taken = await of(`oci://${registry.host}/agent:tag`);
    assertEquals([taken.verdict, taken.sha256, taken.left], ["resumed", SHA256, []]);
    const blob = registry.requests.find(({ path }) => path.includes("/blobs/"));
    assertEquals(blob?.headers.get("range"), `bytes=${(1 + FETCH_RESUMES_MAX) * 1_000}-`);
  }));
