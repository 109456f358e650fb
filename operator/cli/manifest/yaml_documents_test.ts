import { assert, assertEquals, assertThrows } from "@std/assert";
import { FleetError } from "../../../contracts/errors.ts";
import { readYamlDocuments } from "./yaml_documents.ts";

const BOUNDS = { maxBytes: 1_000, maxDocuments: 3 };
const read = (text: string, bounds = BOUNDS) => readYamlDocuments(new TextEncoder().encode(text), bounds);

Deno.test("readYamlDocuments() reads YAML and JSON, and leaves empty documents out but counts them", () => {
  const documents = read('# only a comment\n---\na: 1\n---\n{\n\t"b": ["x", 2]\n}\n');
  assertEquals(documents.map(({ number, line, value }) => ({ number, line, value })), [
    { number: 1, line: 3, value: { a: 1 } },
    { number: 2, line: 5, value: { b: ["x", 2] } },
  ]);
  assertEquals(read("---\n# nothing\n---\na: 1\n").map(({ number }) => number), [2]);
  assertEquals(read(""), []);
});

Deno.test("readYamlDocuments() reads YAML 1.2, where yes and dates are texts", () => {
  assertEquals(read("a: yes\nb: 2026-01-31\nc: 0o10\n")[0]?.value, { a: "yes", b: "2026-01-31", c: 8 });
});

Deno.test("readYamlDocuments() takes exactly its bounds", () => {
  assertEquals(read(`a: ${"x".repeat(997)}`).length, 1);
  assertThrows(() => read(`a: ${"x".repeat(998)}`), FleetError, "file: has more than 1000 bytes");
  assertEquals(read("--- a\n--- b\n--- c\n").length, 3);
  assertThrows(() => read("--- a\n--- b\n--- c\n--- d\n"), FleetError, "file: has 4 documents, at most 3");
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  assertEquals(read(nested(31))[0]?.problem, undefined);
  assertEquals(read(nested(32))[0]?.problem, undefined);
  assertEquals(read(nested(33))[0]?.problem, { line: 1, message: "is nested deeper than 32 levels" });
});

Deno.test("readYamlDocuments() refuses what is not UTF-8", () => {
  assertThrows(() => readYamlDocuments(new Uint8Array([0x61, 0xff]), BOUNDS), FleetError, "file: is not UTF-8");
});

Deno.test("readYamlDocuments() names the line of what it cannot read", () => {
  const problem = (text: string) => read(text)[0]?.problem;
  assertEquals(problem("a: 1\nb: ]\n")?.line, 2);
  assertEquals(problem("a: 1\nb: 2\na: 3\n"), { line: 3, message: "a: is written twice" });
  assertEquals(problem("a: 1\nb: {c: 1, c: 1}\n"), { line: 2, message: "c: is written twice" });
  assert(problem("a: !!binary eA==\n")?.message.includes("Unresolved tag"));
  assert(problem("a: !evil x\n")?.message.includes("Unresolved tag"));
  assert(problem("a: *nowhere\n")?.message.includes("nowhere"));
  assertEquals(problem("a: &x [*x]\n")?.message, "is nested deeper than 32 levels");
});

Deno.test("readYamlDocuments() stops aliases that expand without bound", () => {
  let text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
  for (let level = 1; level < 9; level++) text += `a${level}: &a${level} [${`*a${level - 1},`.repeat(9)}]\n`;
  assert(read(text)[0]?.problem?.message.includes("alias"));
});

Deno.test("lineOf() finds a member, or the nearest one above it", () => {
  const text = [
    "kind: x",
    "metadata:",
    "  labels:",
    "    example.com/site: a",
    "    example: b",
    "spec:",
    "  artifacts:",
    "    - url: 1",
    "      form: 2",
    "    - url: 3",
  ].join("\n");
  const document = read(`---\n${text}`)[0];
  const lineOf = (path: string) => document?.lineOf(path);
  assertEquals(lineOf("metadata.labels.example.com/site"), 5);
  assertEquals(lineOf("metadata.labels.example"), 6);
  assertEquals(lineOf("spec.artifacts[0].form"), 10);
  assertEquals(lineOf("spec.artifacts[1]"), 11);
  assertEquals(lineOf("spec.artifacts[1].sha256"), 11);
  assertEquals(lineOf("spec.version"), 7);
  assertEquals(lineOf("nothing"), 2);
});

Deno.test("plainSourceOf() tells how an unquoted scalar is written", () => {
  const document = read('a: 1.10\nb: "1.10"\nc: [x]\nd: &v 0x1\ne: *v\n')[0];
  assertEquals(document?.plainSourceOf("a"), "1.10");
  assertEquals(document?.plainSourceOf("b"), undefined);
  assertEquals(document?.plainSourceOf("c"), undefined);
  assertEquals(document?.plainSourceOf("c[0]"), "x");
});
