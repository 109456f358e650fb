import { assertEquals } from "@std/assert";
import { OCI_REPOSITORY_MAX_CHARS, OCI_TAG_MAX_CHARS } from "./limits.ts";
import { ociReferenceText, parseOciReference } from "./oci_reference.ts";

const DIGEST = `sha256:${"0a".repeat(32)}`;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function problemOf(text: string): string {
  const parsed = parseOciReference(text);
  return "problem" in parsed ? parsed.problem : "none";
}

pure("parseOciReference() takes hosts, ports and addresses apart", () => {
  const hosts = [
    "registry.example",
    "registry.example:5000",
    "localhost",
    "10.0.0.1:443",
    "[::1]:5000",
    "[2001:db8::1]",
  ];
  for (const host of hosts) {
    for (const [target, text] of [["tag", ":1.4.0_b-2"], ["digest", `@${DIGEST}`]] as const) {
      const parsed = parseOciReference(`oci://${host}/fleet/agent${text}`);
      if ("problem" in parsed) throw new Error(`${host}: ${parsed.problem}`);
      assertEquals([parsed.host, parsed.repository, parsed.target.kind], [host, "fleet/agent", target]);
      assertEquals(ociReferenceText(parsed), `oci://${host}/fleet/agent${text}`);
    }
  }
  assertEquals(
    ociReferenceText(parseOciReference("oci://Registry.Example/a:b") as never),
    "oci://registry.example/a:b",
  );
});

pure("parseOciReference() says what is wrong", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["https://host/a:b", "must begin with oci://"],
    ["OCI://host/a:b", "must begin with oci://"],
    ["oci:///a:b", "names no host"],
    ["oci://user:secret@host/a:b", "must not contain credentials"],
    ["oci://host", "names no repository"],
    ["oci://host/a", "has neither a tag nor a digest; a default such as latest is never assumed"],
    ["oci://host:5000/a", "has neither a tag nor a digest; a default such as latest is never assumed"],
    [`oci://host/a:b@${DIGEST}`, "has a tag and a digest; one of them says what is meant"],
    ["oci://host/a@sha256:00", "has a digest that is not sha256: and 64 hexadecimal digits"],
    [`oci://host/a@${DIGEST.toUpperCase()}`, "has a digest that is not sha256: and 64 hexadecimal digits"],
    [`oci://host/a@sha512:${"0".repeat(128)}`, "has a digest that is not sha256: and 64 hexadecimal digits"],
  ];
  for (const [text, problem] of cases) assertEquals(problemOf(text), problem, text);
});

pure("parseOciReference() refuses hosts, repositories and tags that could become another URL", () => {
  const host = "names no host and port that can be reached";
  for (
    const text of ["-a", "a..b", "a_b", "host:0", "host:65536", "host:", "[::1", "[x]", "[::1]x", "ho st", "h%6fst"]
  ) {
    assertEquals(problemOf(`oci://${text}/a:b`), host, text);
  }
  const repository = "has a repository that is not lower-case names with slashes between them";
  for (
    const text of ["", "A", "a//b", "/a", "a/", "../a", "a/../b", "a?b", "a#b", "a%2fb", "a___b", "a..b", "-a", "a b"]
  ) {
    assertEquals(problemOf(`oci://host/${text}:b`), repository, text);
    assertEquals(problemOf(`oci://host/${text}@${DIGEST}`), repository, text);
  }
  for (const text of ["a/b", "a?b", "a#b", "a b", ".a", "-a", "a:b", "ä", ""]) {
    assertEquals(problemOf(`oci://host/a:${text}`), "has a tag with other characters than A-Z a-z 0-9 _ . -", text);
  }
});

pure("a repository and a tag at their limits", () => {
  for (const extra of [-1, 0, 1]) {
    const repository = "a".repeat(OCI_REPOSITORY_MAX_CHARS + extra);
    const tag = "b".repeat(OCI_TAG_MAX_CHARS + extra);
    assertEquals(problemOf(`oci://host/${repository}:b`) === "none", extra <= 0);
    assertEquals(problemOf(`oci://host/a:${tag}`) === "none", extra <= 0);
  }
});

pure("a text that is made to keep a pattern busy is answered at once", () => {
  const startedMs = performance.now();
  for (const part of ["a-", "a_", "a.", "a/", "a--", "-"]) {
    problemOf(`oci://host/${part.repeat(1_000)}:b`);
    problemOf(`oci://${part.repeat(1_000)}/a:b`);
    problemOf(`oci://host/${part.repeat(100)}!:b`);
  }
  assertEquals(performance.now() - startedMs < 1_000, true);
});
