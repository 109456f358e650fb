import { assertEquals } from "@std/assert";
import { readManifest } from "../../operator/cli/manifest/read_manifest.ts";
import { devicesManifest, releaseManifest, type ReleaseText } from "./manifests.ts";

const RELEASE: ReleaseText = {
  name: "agent-1-1",
  version: "1.1.0",
  url: "https://127.0.0.1:1/a",
  sha256: "0".repeat(64),
  maxBytes: 10,
  group: "demo",
};

function inputs(text: string) {
  const manifest = readManifest("x.yaml", new TextEncoder().encode(text));
  assertEquals(manifest.problems, []);
  return manifest.inputs.map(({ input }) => input);
}

Deno.test("devicesManifest() is what fleetctl takes", () => {
  const found = inputs(devicesManifest(["device-1", "device-2"], "demo"));
  assertEquals(found.map(({ kind, name, spec }) => ({ kind, name, spec })), [
    { kind: "Device", name: "device-1", spec: { groups: ["demo"] } },
    { kind: "Device", name: "device-2", spec: { groups: ["demo"] } },
  ]);
});

Deno.test("releaseManifest() is what fleetctl takes, a SHA-256 of digits alone included", () => {
  const [all] = inputs(releaseManifest(RELEASE, "x86_64"));
  const artifacts = [{ arch: "x86_64", form: "script", url: RELEASE.url, sha256: RELEASE.sha256, maxBytes: 10 }];
  assertEquals([all?.kind, all?.name], ["AgentRelease", "agent-1-1"]);
  const spec = { version: "1.1.0", artifacts, allowedGroups: ["demo"], targetSelector: {}, priority: 0 };
  for (const [field, value] of Object.entries(spec)) {
    assertEquals<unknown>(all?.spec[field as keyof typeof all.spec], value, field);
  }
  const [one] = inputs(releaseManifest({ ...RELEASE, deviceId: "device-3", priority: 10 }, "aarch64"));
  const { targetSelector, priority } = one?.spec as unknown as Record<string, unknown>;
  assertEquals([targetSelector, priority], [{ matchLabels: { "device-id": "device-3" } }, 10]);
});
