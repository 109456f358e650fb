import { assertEquals, assertThrows } from "@std/assert";
import { FleetError } from "./errors.ts";
import { OCI_INDEX_MANIFESTS_MAX, OCI_LAYERS_MAX, OCI_MEDIA_TYPE_MAX_CHARS } from "./limits.ts";
import {
  AGENT_ARTIFACT_TYPE,
  AGENT_LAYER_TYPE,
  agentIndex,
  agentLayer,
  agentManifest,
  archesOfIndex,
  manifestFor,
  OCI_ARCH_ANNOTATION,
  OCI_EMPTY_TYPE,
  OCI_INDEX_TYPE,
  OCI_MANIFEST_TYPE,
  type OciDescriptor,
  ociDocument,
  type OciIndexEntry,
  type OciManifest,
  ociTag,
} from "./oci_artifact.ts";

const SHA256 = "0a".repeat(32);
const EMPTY: OciDescriptor = { mediaType: OCI_EMPTY_TYPE, digest: `sha256:${"0".repeat(64)}`, size: 2 };
const AGENT = { version: "1.4.0", arch: "x86_64", form: "compiled", sizeBytes: 7, sha256: SHA256 } as const;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function problemOf(fn: () => unknown): string {
  const error = assertThrows(fn, FleetError);
  assertEquals([error.code, error.failureClass], ["E_DECODE", "policy"]);
  return error.message;
}

function manifestOf(overrides: Record<string, unknown> = {}): OciManifest {
  const document = ociDocument({ ...agentManifest(AGENT, EMPTY), ...overrides }, undefined);
  if (document.kind !== "manifest") throw new Error("no manifest");
  return document.manifest;
}

function entriesOf(value: unknown): readonly OciIndexEntry[] {
  const document = ociDocument(value, undefined);
  if (document.kind !== "index") throw new Error("no index");
  return document.entries;
}

const DESCRIPTOR: OciDescriptor = { mediaType: OCI_MANIFEST_TYPE, digest: `sha256:${SHA256}`, size: 500 };

pure("what is made is what is taken", () => {
  assertEquals(agentLayer(manifestOf()), { mediaType: AGENT_LAYER_TYPE, digest: `sha256:${SHA256}`, size: 7 });
  const other = { ...DESCRIPTOR, size: 501 };
  const entries = entriesOf(agentIndex([["x86_64", DESCRIPTOR], ["aarch64", other]]));
  assertEquals([manifestFor(entries, "x86_64").size, manifestFor(entries, "aarch64").size], [500, 501]);
  assertEquals(archesOfIndex(entries), ["x86_64", "aarch64"]);
  assertEquals([ociTag("1.2.3+b.4", "compiled"), ociTag("1.2.3", "script")], ["1.2.3_b.4", "1.2.3-script"]);
});

pure("a document is what it says, and only then what its header says", () => {
  const { mediaType: _said, ...silent } = agentManifest(AGENT, EMPTY);
  assertEquals(ociDocument(silent, `${OCI_MANIFEST_TYPE}; charset=utf-8`).kind, "manifest");
  assertEquals(ociDocument(agentManifest(AGENT, EMPTY), "text/plain").kind, "manifest");
  const problem = "must be an OCI image manifest or index";
  for (const header of [undefined, "", "text/plain", "application/vnd.docker.distribution.manifest.v2+json"]) {
    assertEquals(problemOf(() => ociDocument(silent, header)).endsWith(problem), true);
  }
  problemOf(() => ociDocument(silent, OCI_INDEX_TYPE));
});

pure("a document that is a manifest and an index at once is neither", () => {
  const both = { ...agentManifest(AGENT, EMPTY), manifests: [] };
  assertEquals(problemOf(() => ociDocument(both, undefined)), "document: is a manifest and an index at once");
});

pure("hostile documents are refused by the member", () => {
  for (const value of [null, [], "x", 1, {}, { mediaType: 1 }, { mediaType: "" }]) {
    problemOf(() => ociDocument(value, undefined));
  }
  const layer = { mediaType: AGENT_LAYER_TYPE, digest: `sha256:${SHA256}`, size: 1 };
  const cases: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ schemaVersion: 1 }, "schemaVersion"],
    [{ layers: null }, "layers"],
    [{ layers: [{ ...layer, size: -1 }] }, "layers[0].size"],
    [{ layers: [{ ...layer, size: 1.5 }] }, "layers[0].size"],
    [{ layers: [{ ...layer, size: "1" }] }, "layers[0].size"],
    [{ layers: [{ ...layer, size: 2 ** 60 }] }, "layers[0].size"],
    [{ layers: [{ ...layer, digest: "sha256:../../x" }] }, "layers[0].digest"],
    [{ layers: [{ ...layer, digest: `md5:${SHA256}` }] }, "layers[0].digest"],
    [{ config: {} }, "config.mediaType"],
    [{ config: undefined }, "config"],
    [{ annotations: [] }, "annotations"],
    [{ annotations: { [OCI_ARCH_ANNOTATION]: 1 } }, `annotations.${OCI_ARCH_ANNOTATION}`],
  ];
  for (const [overrides, field] of cases) {
    const error = assertThrows(() => manifestOf(overrides), FleetError);
    assertEquals(error.field, field);
  }
});

pure("annotations of other tools are theirs", () => {
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`note-${index}`, "x".repeat(9_000)]));
  assertEquals(manifestOf({ annotations: { ...many, [OCI_ARCH_ANNOTATION]: "x86_64" } }).annotations, {
    [OCI_ARCH_ANNOTATION]: "x86_64",
  });
});

pure("an agent has the artifact type, exactly one layer, and its media type", () => {
  const layer = { mediaType: AGENT_LAYER_TYPE, digest: `sha256:${SHA256}`, size: 1 };
  const of = (overrides: Record<string, unknown>) => problemOf(() => agentLayer(manifestOf(overrides)));
  assertEquals(of({ artifactType: "x/y" }), `artifactType: is "x/y", must be ${AGENT_ARTIFACT_TYPE}`);
  assertEquals(of({ artifactType: undefined }), `artifactType: is "${OCI_EMPTY_TYPE}", must be ${AGENT_ARTIFACT_TYPE}`);
  assertEquals(of({ layers: [] }), "layers: has 0 items, must have exactly one");
  assertEquals(of({ layers: [layer, layer] }), "layers: has 2 items, must have exactly one");
  assertEquals(
    of({ layers: [{ ...layer, mediaType: "application/x-tar" }] }),
    `layers[0].mediaType: is "application/x-tar", must be ${AGENT_LAYER_TYPE}`,
  );
  // Tools from before artifact types put it there.
  const older = manifestOf({ artifactType: undefined, config: { mediaType: AGENT_ARTIFACT_TYPE } });
  assertEquals(agentLayer(older).size, 7);
});

pure("an index must have exactly one agent for the platform", () => {
  const entry = (architecture: string, more: Record<string, unknown> = {}, os = "linux") => ({
    ...DESCRIPTOR,
    platform: { architecture, os },
    ...more,
  });
  const index = (...manifests: unknown[]) => entriesOf({ schemaVersion: 2, mediaType: OCI_INDEX_TYPE, manifests });
  const found = (...manifests: unknown[]) => manifestFor(index(...manifests), "x86_64").digest;
  assertEquals(found(entry("amd64"), entry("arm64")), DESCRIPTOR.digest);
  assertEquals(
    found(entry("amd64", { platform: { architecture: "amd64", os: "linux", variant: "v1" } })),
    DESCRIPTOR.digest,
  );
  const image = { artifactType: "application/vnd.example" };
  assertEquals(found(entry("amd64"), entry("amd64", image)), DESCRIPTOR.digest);
  const none = "manifests: has no agents for linux/amd64, must have one";
  const refused = (...manifests: unknown[]) => problemOf(() => manifestFor(index(...manifests), "x86_64"));
  assertEquals(refused(), none);
  assertEquals(refused(entry("arm64")), none);
  assertEquals(refused(entry("amd64", {}, "windows")), none);
  assertEquals(refused({ ...DESCRIPTOR }), none);
  assertEquals(refused(entry("amd64", { platform: { architecture: "amd64", os: "linux", variant: "v3" } })), none);
  assertEquals(refused(entry("amd64"), entry("amd64")), "manifests: has 2 agents for linux/amd64, must have one");
  assertEquals(
    refused(entry("amd64", { mediaType: OCI_INDEX_TYPE })),
    "manifests: has for linux/amd64 no image manifest",
  );
});

pure("lists and media types at their limits", () => {
  const layer = { mediaType: AGENT_LAYER_TYPE, digest: `sha256:${SHA256}`, size: 1 };
  const taken = (fn: () => unknown) => {
    try {
      fn();
      return true;
    } catch {
      return false;
    }
  };
  for (const extra of [-1, 0, 1]) {
    const layers = Array(OCI_LAYERS_MAX + extra).fill(layer);
    assertEquals(taken(() => manifestOf({ layers })), extra <= 0);
    const manifests = Array(OCI_INDEX_MANIFESTS_MAX + extra).fill(DESCRIPTOR);
    assertEquals(taken(() => entriesOf({ ...agentIndex([]), manifests })), extra <= 0);
    const artifactType = "a".repeat(OCI_MEDIA_TYPE_MAX_CHARS + extra);
    assertEquals(taken(() => manifestOf({ artifactType })), extra <= 0);
  }
});
