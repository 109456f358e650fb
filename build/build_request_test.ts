import { assertEquals, assertStringIncludes } from "@std/assert";
import { type BuildRequest, parseBuildArgs } from "./build_request.ts";

const DEFAULTS = { version: "1.0.0", outDir: "/dist" };
const EVERYTHING: BuildRequest = {
  programs: ["fleet-agent", "fleet-updater", "fleet-operator", "fleetctl"],
  version: "1.0.0",
  architectures: ["x86_64", "aarch64"],
  forms: ["compiled", "script"],
  outDir: "/dist",
  runtimePaths: [],
  scriptDenoPath: "/usr/lib/harmony-fleet/deno",
};

Deno.test("parseBuildArgs() builds everything unless something is named", () => {
  assertEquals(parseBuildArgs([], DEFAULTS), EVERYTHING);
  const args = [
    "fleetctl",
    "--version",
    "2.0.0-rc.1",
    "--deno=/d",
    "--out",
    "/o",
    "--arch=aarch64",
    "--format",
    "script",
  ];
  assertEquals(parseBuildArgs([...args, "--runtime=/a", "--runtime=/b", "--prelude", "/p"], DEFAULTS), {
    programs: ["fleetctl"],
    version: "2.0.0-rc.1",
    architectures: ["aarch64"],
    forms: ["script"],
    outDir: "/o",
    runtimePaths: ["/a", "/b"],
    scriptDenoPath: "/d",
    preludePath: "/p",
  });
});

Deno.test("parseBuildArgs() says what is wrong", () => {
  const wrong = (...args: string[]) => String(parseBuildArgs(args, DEFAULTS));
  assertStringIncludes(wrong("fleet-agnet"), 'unknown program "fleet-agnet"');
  assertStringIncludes(wrong("--format", "tar"), '"tar" is not one of compiled, script');
  assertStringIncludes(wrong("--arch", "x86_64,armv7"), '"armv7" is not one of x86_64, aarch64');
  assertStringIncludes(wrong("--version", "v1"), "--version");
  assertStringIncludes(wrong("--colour"), "--colour");
});
