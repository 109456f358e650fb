import {
  assert,
  assertEquals,
  assertLess,
  assertMatch,
  assertNotEquals,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { join } from "node:path";
import { type Program, type ProgramName, PROGRAMS } from "./programs.ts";
import { buildScript } from "./script_form.ts";
import { scriptHeader } from "./script_header.ts";

const FIXTURE: Program = {
  name: "fixture",
  entryPoint: "build/fixtures/program.ts",
  permissions: ["--allow-read"],
  v8Flags: ["--max-semi-space-size=1"],
};

interface Report {
  version: string;
  form: string;
  args: string[];
  pid: number;
  main: boolean;
  hasDatagrams: boolean;
  readGranted: boolean;
  runGranted: boolean;
  broken: boolean;
}

async function inTempDir(fn: (dir: string) => Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir();
  try {
    await fn(dir);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

async function run(path: string, args: string[] = []): Promise<Report> {
  const child = new Deno.Command(path, { args, stdin: "null", stdout: "piped", stderr: "piped" }).spawn();
  const pid = child.pid;
  const output = await child.output();
  assertEquals(new TextDecoder().decode(output.stderr), "");
  assert(output.success);
  const report: Report = JSON.parse(new TextDecoder().decode(output.stdout));
  assertEquals(report.pid, pid, "the shell header must not stay in between");
  return report;
}

Deno.test("buildScript() makes an executable with version, form, arguments and permissions as given", async () => {
  await inTempDir(async (dir) => {
    const outPath = join(dir, "fixture-v1.2.3");
    const built = await buildScript({ program: FIXTURE, version: "1.2.3", outPath, cacheDir: dir });
    const report = await run(outPath, ["a b", "--flag", "$HOME", "'"]);
    assertEquals(report, {
      version: "1.2.3",
      form: "script",
      args: ["a b", "--flag", "$HOME", "'"],
      pid: report.pid,
      main: true,
      hasDatagrams: true,
      readGranted: true,
      runGranted: false,
      broken: false,
    });
    assertEquals((await Deno.stat(outPath)).size, built.sizeBytes);
    assertEquals(((await Deno.stat(outPath)).mode ?? 0) & 0o777, 0o755);
  });
});

Deno.test("buildScript() makes several versions from one bundle, each the same bytes every time", async () => {
  await inTempDir(async (dir) => {
    const build = (version: string, file: string) =>
      buildScript({ program: FIXTURE, version, outPath: join(dir, file), cacheDir: dir });
    const first = await build("1.0.0", "a");
    const cacheWritten = (await Deno.stat(join(dir, "fixture.json"))).mtime?.getTime();
    const second = await build("2.0.0-rc.1+build.5", "b");
    const again = await build("1.0.0", "c");
    assertEquals((await Deno.stat(join(dir, "fixture.json"))).mtime?.getTime(), cacheWritten);
    assertEquals(again.sha256, first.sha256);
    assertNotEquals(second.sha256, first.sha256);
    assertEquals((await run(second.path)).version, "2.0.0-rc.1+build.5");
  });
});

Deno.test("buildScript() bundles again when a source has changed", async () => {
  await inTempDir(async (dir) => {
    const entryPoint = join(dir, "entry.ts");
    const write = (text: string) =>
      Deno.writeTextFile(
        entryPoint,
        `import { BUILD_FORM, BUILD_VERSION } from "${new URL("../contracts/build_info.ts", import.meta.url)}";\n` +
          `console.log(JSON.stringify({ version: BUILD_VERSION, form: BUILD_FORM, pid: Deno.pid, args: ["${text}"] }));`,
      );
    const build = async () => {
      const outPath = join(dir, "changing");
      await buildScript({
        program: { ...FIXTURE, name: "changing", entryPoint },
        version: "1.0.0",
        outPath,
        cacheDir: dir,
      });
      return (await run(outPath)).args;
    };
    await write("one");
    assertEquals(await build(), ["one"]);
    await write("two");
    assertEquals(await build(), ["two"]);
  });
});

Deno.test("buildScript() runs the prelude before the program", async () => {
  await inTempDir(async (dir) => {
    const outPath = join(dir, "broken");
    const prelude = "globalThis.brokenByPrelude = true;";
    await buildScript({ program: FIXTURE, version: "1.0.0", outPath, prelude, cacheDir: dir });
    assert((await run(outPath)).broken);
    await buildScript({ program: FIXTURE, version: "1.0.0", outPath, prelude: "Deno.exit(7);", cacheDir: dir });
    assertEquals((await new Deno.Command(outPath).output()).code, 7);
  });
});

Deno.test("a script runs through a link, from any folder, under a name that looks like another language", async () => {
  await inTempDir(async (dir) => {
    const outPath = join(dir, "it's a fixture-v1.0.0-rc.json");
    await buildScript({ program: FIXTURE, version: "1.0.0-rc.json", outPath, cacheDir: dir });
    await Deno.symlink(outPath, join(dir, "fixture"));
    assertEquals((await run(join(dir, "fixture"))).version, "1.0.0-rc.json");
  });
});

Deno.test("a script keeps all its flags however long they are, and a deno path with spaces and quotes", async () => {
  await inTempDir(async (dir) => {
    const denoPath = join(dir, "it's deno");
    await Deno.symlink(Deno.execPath(), denoPath);
    const paths = Array.from({ length: 100 }, (_, index) => `/nonexistent/some/rather/long/path/${index}`);
    const program = { ...FIXTURE, permissions: [`--allow-write=${paths.join(",")}`, "--allow-read"] };
    const outPath = join(dir, "long");
    await buildScript({ program, version: "1.0.0", outPath, denoPath, cacheDir: dir });
    assert((await run(outPath)).readGranted);
  });
});

Deno.test("a script runs on the deno that FLEET_DENO names, where its own is not there", async () => {
  await inTempDir(async (dir) => {
    const outPath = join(dir, "elsewhere");
    const denoPath = join(dir, "no deno's here");
    await buildScript({ program: FIXTURE, version: "1.0.0", outPath, denoPath, cacheDir: dir });
    const run = (env: Record<string, string>) => new Deno.Command(outPath, { env, stdin: "null" }).output();
    assertEquals((await run({ FLEET_DENO: Deno.execPath() })).code, 0);
    assertEquals((await run({ FLEET_DENO: "" })).code, 127);
  });
});

Deno.test("buildScript() refuses what is no version and a program that does not bundle", async () => {
  await inTempDir(async (dir) => {
    const build = (program: Program, version: string) =>
      buildScript({ program, version, outPath: join(dir, "out"), cacheDir: dir });
    for (const version of ["", "1.0.0 ", "../1", '1"', "1".repeat(65)]) {
      await assertRejects(() => build(FIXTURE, version), Error, "Cannot build version");
    }
    assertLess((await build(FIXTURE, "1".repeat(64))).sizeBytes, 10_000);
    const missing = { ...FIXTURE, name: "missing", entryPoint: "build/fixtures/no_such_program.ts" };
    await assertRejects(() => build(missing, "1.0.0"), Error, "Cannot bundle");
    assertEquals([...Deno.readDirSync(dir)].map((entry) => entry.name).sort(), ["fixture.json", "out"]);
  });
});

Deno.test("every program of the product builds as a script and says its version and form", async () => {
  await inTempDir(async (dir) => {
    for (const program of Object.keys(PROGRAMS) as ProgramName[]) {
      const { path } = await buildScript({ program, version: "1.2.3", outPath: join(dir, program) });
      const output = await new Deno.Command(path, { args: ["--version"], stdin: "null" }).output();
      assertMatch(new TextDecoder().decode(output.stdout), new RegExp(`^${program} 1\\.2\\.3 \\(.*script\\)\n$`));
    }
  });
});

Deno.test("scriptHeader() refuses a path that is relative or has a line end", () => {
  assertThrows(() => scriptHeader(FIXTURE, "deno"), Error, "not an absolute path");
  assertThrows(() => scriptHeader(FIXTURE, "/de\u2028no"), Error, "line end");
});
