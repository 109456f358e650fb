import { assert, assertEquals } from "@std/assert";
import { MANIFEST_DOCUMENTS_MAX, MANIFEST_MAX_BYTES, RESOURCE_MAX_BYTES } from "../../../contracts/limits.ts";
import { readManifest, repeatedInputs } from "./read_manifest.ts";

const SHA = "a".repeat(64);
const RELEASE = `apiVersion: fleet.nationtech.io/v1alpha1
kind: AgentRelease
metadata:
  name: agent-1-5
spec:
  version: 1.5.0
  artifacts:
    - arch: x86_64
      form: script
      url: https://artifacts.example/fleet-agent-v1.5.0
      sha256: "${SHA}"
      maxBytes: 1048576
  allowedGroups: [production]
  targetSelector: {}
`;
const DEVICE = `apiVersion: fleet.nationtech.io/v1alpha1
kind: Device
metadata:
  name: device-1
  labels: {site: lab}
spec:
  groups: [production]
`;

const read = (text: string) => readManifest("fleet.yaml", new TextEncoder().encode(text));
const problemsOf = (text: string) =>
  read(text).problems.map(({ line, document, subject, message, hint }) => ({ line, document, subject, message, hint }));

Deno.test("readManifest() reads devices and releases from one file", () => {
  const { inputs, problems } = read(`${RELEASE}---\n${DEVICE}`);
  assertEquals(problems, []);
  assertEquals(inputs.map(({ place, input }) => [place.document, place.line, input.kind, input.name]), [
    [1, 1, "AgentRelease", "agent-1-5"],
    [2, 16, "Device", "device-1"],
  ]);
  assertEquals(inputs[1]?.input.labels, { site: "lab" });
});

Deno.test("readManifest() leaves out what a document does not say of revision and paused", () => {
  const spec = read(RELEASE).inputs[0]?.input.spec;
  assertEquals(spec !== undefined && ("revision" in spec || "paused" in spec), false);
  const given = read(`${RELEASE}  revision: 3\n  paused: true\n`).inputs[0]?.input;
  assert(given?.kind === "AgentRelease");
  assertEquals([given.spec.revision, given.spec.paused, given.spec.priority], [3, true, 0]);
  assertEquals("labels" in given, false);
});

Deno.test("readManifest() names the field, the line, the document and the nearest known name", () => {
  assertEquals(
    problemsOf(`${DEVICE}---\n${RELEASE.replace("maxBytes", "maxByte").replace("spec:", "spec:\n  x: 1")}`),
    [
      {
        line: 14,
        document: 2,
        subject: "AgentRelease/agent-1-5",
        message: "spec.x: is not a known field",
        hint: "known here: version, artifacts, revision, paused, allowedGroups, targetSelector, priority",
      },
      {
        line: 21,
        document: 2,
        subject: "AgentRelease/agent-1-5",
        message: "spec.artifacts[0].maxByte: is not a known field",
        hint: "did you mean maxBytes?",
      },
    ],
  );
});

Deno.test("readManifest() refuses bad values with their path", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["https://artifacts", "http://artifacts", "spec.artifacts[0].url: has the scheme http:, must be https or oci"],
    ["1.5.0", `1.5.0-${"a".repeat(59)}`, "spec.version: has 65 characters, at most 64"],
    ["1.5.0", "../1", "spec.version: is not a semantic version such as 1.4.0"],
    ["1048576", "104857601", "spec.artifacts[0].maxBytes: is 104857601, must be from 1 to 104857600"],
    ["1048576", '"1048576"', "spec.artifacts[0].maxBytes: must be an integer, not a string"],
    ["[production]", "[]", "spec.allowedGroups: has 0 items, at least 1"],
    ["[production]", "production", "spec.allowedGroups: must be a list, not a string"],
    ["arch: x86_64", "arch: riscv", 'spec.artifacts[0].arch: is "riscv", must be one of x86_64, aarch64'],
    [
      "name: agent-1-5",
      "name: Agent",
      "metadata.name: is not a resource name (lower-case letters, digits, inner hyphens and dots)",
    ],
    [
      "  allowedGroups",
      `    - {arch: x86_64, form: script, url: "https://b/", sha256: ${SHA}, maxBytes: 1}\n  allowedGroups`,
      "spec.artifacts[1]: is a second artifact for x86_64/script",
    ],
  ];
  for (const [from, to, message] of cases) {
    assertEquals(read(RELEASE.replace(from, to)).problems.map((problem) => problem.message), [message]);
  }
});

Deno.test("readManifest() tells everything that is wrong at once", () => {
  const text = RELEASE.replace("1.5.0\n", "x\n").replace("form: script", "form: exe").replace(
    "kind:",
    "kinds: 1\nkind:",
  );
  assertEquals(read(text).problems.map(({ path }) => path), ["kinds", "spec.version", "spec.artifacts[0].form"]);
});

Deno.test("readManifest() tells who forgot quotes to put them", () => {
  const [problem] = problemsOf(RELEASE.replace("1.5.0", "1.50"));
  assertEquals(problem?.message, "spec.version: must be a semantic version such as 1.4.0, not a number");
  assertEquals(problem?.hint, 'YAML reads 1.50 as a value of that type; put it in quotes: "1.50"');
});

Deno.test("readManifest() helps with kinds and versions", () => {
  assertEquals(problemsOf(DEVICE.replace("Device", "device"))[0]?.hint, "did you mean Device?");
  assertEquals(problemsOf(DEVICE.replace("v1alpha1", "v1"))[0]?.hint, "write apiVersion: fleet.nationtech.io/v1alpha1");
  assertEquals(
    problemsOf(DEVICE.replace("Device", "Pod"))[0]?.message,
    'kind: is "Pod", must be one of Device, AgentRelease, FleetDeployment, TaskRun',
  );
  assertEquals(problemsOf("just text")[0]?.message, "document: must be an object, not a string");
});

Deno.test("readManifest() holds a device's name and label to its id", () => {
  assertEquals(
    problemsOf(DEVICE.replace("device-1", "device.1"))[0]?.message,
    "metadata.name: is not a device id (lower-case letters, digits and inner hyphens)",
  );
  const [problem] = problemsOf(DEVICE.replace("site: lab", "device-id: device-2"));
  assertEquals(problem?.message, 'metadata.labels.device-id: is "device-2", must be the name "device-1"');
  assertEquals(problem?.line, 5);
  assertEquals(problemsOf(DEVICE.replace("site: lab", "device-id: device-1")), []);
});

Deno.test("readManifest() takes what get prints: stored metadata, status, and lists", () => {
  const item = {
    apiVersion: "fleet.nationtech.io/v1alpha1",
    kind: "Device",
    metadata: {
      name: "device-1",
      uid: "00000000-0000-4000-8000-000000000001",
      resourceVersion: "7",
      generation: 2,
      creationTimestamp: "2026-01-31T12:00:00.000Z",
    },
    spec: { groups: [] },
    status: { anything: "goes" },
  };
  const { inputs, problems } = read(JSON.stringify({ apiVersion: item.apiVersion, kind: "DeviceList", items: [item] }));
  assertEquals(problems, []);
  assertEquals([inputs[0]?.input.resourceVersion, inputs[0]?.input.generation], ["7", 2]);
  const bad = { ...item, spec: { group: [] } };
  const [problem] = read(JSON.stringify({ kind: "DeviceList", items: [item, bad] }, null, 1)).problems;
  assertEquals([problem?.path, problem?.hint, problem?.line], ["items[1].spec.group", "did you mean groups?", 32]);
});

Deno.test("readManifest() has bounds for the file and for each document", () => {
  const problem = (text: string) => read(text).problems[0]?.message;
  assertEquals(problem(""), "file: has no documents");
  assertEquals(
    readManifest("f", new Uint8Array(11), { maxBytes: 10, maxDocuments: 1 }).problems[0]?.message,
    "file: has more than 10 bytes",
  );
  const big = `${DEVICE}status: "${"x".repeat(RESOURCE_MAX_BYTES)}"\n`;
  assert(problem(big)?.startsWith("document: has 2"), problem(big));
  const overhead = JSON.stringify({ a: "" }).length;
  assertEquals(
    problem(`a: "${"x".repeat(RESOURCE_MAX_BYTES - overhead + 1)}"`),
    `document: has ${RESOURCE_MAX_BYTES + 1} bytes as JSON, at most ${RESOURCE_MAX_BYTES}`,
  );
  assertEquals(problem(`a: "${"x".repeat(RESOURCE_MAX_BYTES - overhead)}"`), "apiVersion: is missing");
});

Deno.test("repeatedInputs() names the second document for a resource", () => {
  const { inputs } = read(`${DEVICE}---\n${RELEASE}---\n${DEVICE}`);
  assertEquals(repeatedInputs(inputs).map(({ document, message }) => [document, message]), [
    [3, "Device/device-1: stands already in fleet.yaml, line 1"],
  ]);
});

Deno.test("readManifest() takes a file at its limits, and none above them", () => {
  const problem = (text: string) => read(text).problems[0]?.message;
  for (
    const [sizeBytes, expected] of [
      [MANIFEST_MAX_BYTES - 1, "file: has no documents"],
      [MANIFEST_MAX_BYTES, "file: has no documents"],
      [MANIFEST_MAX_BYTES + 1, `file: has more than ${MANIFEST_MAX_BYTES} bytes`],
    ] as const
  ) assertEquals(problem("#".padEnd(sizeBytes, "x")), expected);
  const documents = (count: number) => read("--- a\n".repeat(count)).problems;
  for (const count of [MANIFEST_DOCUMENTS_MAX - 1, MANIFEST_DOCUMENTS_MAX]) {
    assertEquals(documents(count).length, count);
  }
  assertEquals(documents(MANIFEST_DOCUMENTS_MAX + 1).map(({ message }) => message), [
    `file: has ${MANIFEST_DOCUMENTS_MAX + 1} documents, at most ${MANIFEST_DOCUMENTS_MAX}`,
  ]);
});
