import { assertEquals, assertStringIncludes } from "@std/assert";
import { parseBuildArgs } from "./main.ts";

const DEFAULTS = { version: "1.0.0", denoPath: "/deno", outDir: "/dist" };

Deno.test("parseBuildArgs() builds every program unless some are named", () => {
  assertEquals(parseBuildArgs([], DEFAULTS), {
    ...DEFAULTS,
    programs: ["fleet-agent", "fleet-updater", "fleet-operator", "fleetctl"],
  });
  assertEquals(parseBuildArgs(["fleetctl", "--version", "2.0.0", "--deno=/d", "--out", "/o"], DEFAULTS), {
    programs: ["fleetctl"],
    version: "2.0.0",
    denoPath: "/d",
    outDir: "/o",
  });
});

Deno.test("parseBuildArgs() says what is wrong", () => {
  const wrong = (...args: string[]) => String(parseBuildArgs(args, DEFAULTS));
  assertStringIncludes(wrong("fleet-agnet"), 'unknown program "fleet-agnet"');
  assertStringIncludes(wrong("--format", "tar"), 'unknown format "tar"');
  assertStringIncludes(wrong("--colour"), "--colour");
});
