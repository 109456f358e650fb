import { assertEquals, assertStringIncludes } from "@std/assert";
import { PUSH_FILES_MAX } from "../../../contracts/limits.ts";
import { parseCommandLine } from "../command_line.ts";

const REFERENCE = "oci://registry.example/fleet/agent:1.5.0";

function parse(line: string) {
  return parseCommandLine(line.split(" "), "1.0.0", null);
}

function usageOf(line: string): string {
  const parsed = parse(line);
  return parsed.kind === "usage" ? parsed.text : parsed.kind;
}

Deno.test("artifact push: files, then the reference", () => {
  const parsed = parse(
    `artifact push a b ${REFERENCE} --agent-version 1.5.0 --arch aarch64 --arch aarch64 --force --registry-user ci ` +
      "--registry-password-file p --registry-ca-file c -o json",
  );
  if (parsed.kind !== "run") throw new Error(parsed.text);
  assertEquals(parsed.invocation, {
    command: "artifact-push",
    files: ["a", "b"],
    reference: REFERENCE,
    version: "1.5.0",
    arches: ["aarch64"],
    force: true,
    registry: { caFile: "c", user: "ci", passwordFile: "p" },
    output: "json",
  });
});

Deno.test("artifact push: wrong lines say what is wanted", () => {
  assertStringIncludes(usageOf(`artifact push a ${REFERENCE}`), "--agent-version");
  assertStringIncludes(usageOf("artifact push a b --agent-version 1"), "the last argument must be oci://");
  assertStringIncludes(
    usageOf(`artifact push a ${REFERENCE} --agent-version 1 --arch arm`),
    "Allowed are x86_64, aarch64",
  );
  assertStringIncludes(
    usageOf(`artifact push a ${REFERENCE} --agent-version 1 --registry-password x`),
    "unknown option",
  );
  for (const extra of [-1, 0, 1]) {
    const files = "f ".repeat(PUSH_FILES_MAX + extra);
    const text = usageOf(`artifact push ${files}${REFERENCE} --agent-version 1.5.0`);
    assertEquals(text === "run", extra <= 0, text);
  }
  assertStringIncludes(usageOf(`artifact push ${REFERENCE} --agent-version 1.5.0`), "0 files are given");
});

Deno.test("artifact inspect: a reference or a URL, and no login", () => {
  for (const reference of [REFERENCE, "https://artifacts.example/agent"]) {
    const parsed = parse(`artifact inspect ${reference}`);
    if (parsed.kind !== "run") throw new Error(parsed.text);
    assertEquals(parsed.invocation, { command: "artifact-inspect", reference, registry: {}, output: "table" });
  }
  assertStringIncludes(usageOf("artifact inspect http://artifacts.example/agent"), "want oci://… or https://…");
  assertStringIncludes(usageOf(`artifact inspect ${REFERENCE} --registry-user ci`), "unknown option");
});

Deno.test("the help of each command has examples", () => {
  for (const command of ["artifact", "artifact push", "artifact inspect"]) {
    const parsed = parse(`${command} --help`);
    assertStringIncludes(parsed.kind === "text" ? parsed.text : "", "Examples:");
  }
});
