import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { sourcePaths } from "../../build/source_tree.ts";

const MAIN = new URL("../../build/main.ts", import.meta.url).pathname;

async function build(outDir: string, args: string[], env: Record<string, string> = {}) {
  const { code, stderr, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-all", MAIN, "--out", outDir, ...args],
    env,
    stdin: "null",
  }).output();
  return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

async function inTempDir(fn: (dir: string) => Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir();
  try {
    await fn(dir);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("a release folder holds what its manifest and its sums say, and the same bytes every time", () =>
  inTempDir(async (dir) => {
    const sums: string[] = [];
    for (const name of ["one", "two"]) {
      const release = join(dir, name);
      const { code, err, out } = await build(release, ["--format=script", "--version=1.2.3-rc.1"]);
      assertEquals([code, err], [0, ""]);
      assertStringIncludes(out, `release 1.2.3-rc.1: ${release}`);
      sums.push(await Deno.readTextFile(join(release, "SHA256SUMS")));
    }
    assertEquals(sums[0], sums[1]);

    const release = join(dir, "one");
    const listed = (sums[0] ?? "").trimEnd().split("\n").map((line) => line.split("  "));
    assertEquals(
      listed.map(([, path]) => path ?? ""),
      (await sourcePaths(release)).filter((path) => path !== "SHA256SUMS"),
    );
    for (const [digest, path = ""] of listed) {
      assertEquals(createHash("sha256").update(await Deno.readFile(join(release, path))).digest("hex"), digest, path);
    }
    assertEquals(await Deno.readTextFile(join(release, "VERSION")), "1.2.3-rc.1\n");

    const manifest = JSON.parse(await Deno.readTextFile(join(release, "release.json")));
    assertEquals([manifest.schema, manifest.version], [1, "1.2.3-rc.1"]);
    assertEquals(manifest.artifacts.length, 4);
    for (const { path, run, sha256, sizeBytes } of manifest.artifacts) {
      assertEquals(run, "native");
      assert(sums[0]?.includes(`${sha256}  ${path}\n`));
      const { mode, size } = await Deno.stat(join(release, path));
      assertEquals([size, (mode ?? 0) & 0o777], [sizeBytes, 0o755]);
    }
    assertEquals(((await Deno.stat(join(release, "install.sh"))).mode ?? 0) & 0o777, 0o755);
    for (const unit of ["fleet-agent.service", "fleet-updater.service"]) {
      assertMatch(await Deno.readTextFile(join(release, "systemd", unit)), /^Type=notify$/m);
    }
  }));

Deno.test("a build that fails leaves the release as it was", () =>
  inTempDir(async (dir) => {
    const release = join(dir, "release");
    assertEquals((await build(release, ["fleetctl", "--format=script"])).code, 0);
    const before = await Deno.readTextFile(join(release, "SHA256SUMS"));
    const prelude = join(dir, "prelude.js");
    await Deno.writeTextFile(prelude, 'throw new Error("broken at its start");');
    const { code, err } = await build(release, ["fleetctl", "--format=script", "--prelude", prelude]);
    assertEquals(code, 1);
    assertStringIncludes(err, "--version printed");
    assertStringIncludes(err, "broken at its start");
    assertEquals(await Deno.readTextFile(join(release, "SHA256SUMS")), before);
    assertEquals([...Deno.readDirSync(dir)].map(({ name }) => name).sort(), ["prelude.js", "release"]);
  }));

Deno.test("a deno for the script form is put into the release by the architecture of its header", () =>
  inTempDir(async (dir) => {
    const release = join(dir, "release");
    const { code, err } = await build(release, ["fleetctl", "--format=script", "--runtime", Deno.execPath()]);
    assertEquals([code, err], [0, ""]);
    const path = join(release, "runtime", Deno.build.arch, "deno");
    assertEquals((await Deno.stat(path)).size, (await Deno.stat(Deno.execPath())).size);
    assertMatch(
      await Deno.readTextFile(join(release, "SHA256SUMS")),
      new RegExp(`  runtime/${Deno.build.arch}/deno\n`),
    );
    assertStringIncludes((await build(release, ["--format=script", "--runtime", MAIN])).err, "not a program for");
  }));

Deno.test("a wrong command line ends with 64 and says why", async () => {
  const { code, err } = await build("/nonexistent", ["--format=tar"]);
  assertEquals(code, 64);
  assertMatch(err, /^build: --format: "tar" is not one of compiled, script\nusage: /);
});
