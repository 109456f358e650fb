import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { join } from "node:path";
import { baseRuntimes, compileFlags, compileProgram, NoBaseRuntimeError } from "./compiled_form.ts";
import { elfHead } from "./fixtures/elf_head.ts";
import { PROGRAMS } from "./programs.ts";

async function inTempDir(fn: (dir: string) => Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir();
  try {
    await fn(dir);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("baseRuntimes() sorts files by what their headers say", () =>
  inTempDir(async (dir) => {
    const [arm, intel] = [join(dir, "one"), join(dir, "two")];
    await Deno.writeFile(arm, new Uint8Array(elfHead(183)));
    await Deno.writeFile(intel, new Uint8Array(elfHead(62)));
    assertEquals(await baseRuntimes(`${arm}:${intel}`), new Map([["aarch64", arm], ["x86_64", intel]]));
    assertEquals(await baseRuntimes(`:${arm}`), new Map([["aarch64", arm]]));
    assertEquals(await baseRuntimes(""), new Map());
    await assertRejects(() => baseRuntimes(`${arm}:${arm}`), Error, "are both for aarch64");
    await assertRejects(() => baseRuntimes(join(dir, "missing")), Deno.errors.NotFound);
  }));

Deno.test("compileFlags() never asks, and grants what the program has in its script form", () => {
  const flags = compileFlags(PROGRAMS["fleet-agent"]);
  for (const flag of ["--no-prompt", "--no-npm", "--no-config", ...PROGRAMS["fleet-agent"].permissions]) {
    assert(flags.includes(flag), flag);
  }
  assert(flags.some((flag) => flag.startsWith("--v8-flags=--max-semi-space-size=")));
  assertFalse(compileFlags(PROGRAMS.fleetctl).some((flag) => flag.startsWith("--v8-flags")));
});

/** A deno that says what the real one says when it cannot download its base runtime, or something else. */
async function fakeDeno(dir: string, said: string): Promise<string> {
  const path = join(dir, "deno");
  await Deno.writeTextFile(path, `#!/bin/sh\necho '${said}' >&2\nexit 1\n`, { mode: 0o755 });
  return path;
}

Deno.test("compileProgram() says in one line what is missing where there is no base runtime", () =>
  inTempDir(async (dir) => {
    const compile = async (said: string) =>
      await compileProgram({
        program: "fleet-updater",
        version: "1.0.0",
        arch: "aarch64",
        outPath: join(dir, "out"),
        compiler: { denoPath: await fakeDeno(dir, said), baseRuntimes: new Map(), cacheDir: dir },
      });
    const url = "https://dl.example/denort-aarch64-unknown-linux-gnu.zip";
    const error = await assertRejects(
      () => compile(`Download ${url}\n 0: Setting up base binary.\n 1: dns error (${url})`),
      NoBaseRuntimeError,
    );
    assertEquals(
      error.message,
      `the compiled form for aarch64 is left out: it needs a base runtime, and ${url} cannot be reached; ` +
        "set DENORT_BIN to one (./dev build --help)",
    );
    await assertRejects(
      () => compile("no space left"),
      Error,
      "Cannot compile fleet-updater for aarch64: no space left",
    );
  }));
