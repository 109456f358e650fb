import { assertEquals, assertRejects } from "@std/assert";
import { join } from "node:path";
import { findEmulator, runArtifact } from "./run_artifact.ts";

async function inTempDir(fn: (dir: string) => Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir();
  try {
    await fn(dir);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

async function script(dir: string, name: string, body: string): Promise<string> {
  const path = join(dir, name);
  await Deno.writeTextFile(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return path;
}

Deno.test("runArtifact() takes a program that says its name, version and form, and no other", () =>
  inTempDir(async (dir) => {
    const run = async (body: string) => {
      const path = await script(dir, "program", body);
      await runArtifact({ path, program: "fleetctl", version: "1.2.3", form: "compiled", denoPath: "/deno" });
    };
    await run('[ "$1" = --version ] && echo "fleetctl 1.2.3 (x86_64, compiled)"');
    const wrong = [
      'echo "fleetctl 1.2.30 (x86_64, compiled)"',
      'echo "fleetctl 1.2.3 (x86_64, script)"',
      'echo "fleet-agent 1.2.3 (x86_64, compiled)"',
      'echo "fleetctl 1.2.3 (x86_64, compiled)"; exit 1',
      "kill -SEGV $$",
    ];
    for (const body of wrong) await assertRejects(() => run(body), Error, "wanted fleetctl 1.2.3 and compiled");
    await assertRejects(() => run("echo broken >&2; exit 1"), Error, ": broken");
  }));

Deno.test("runArtifact() runs a script with the deno of the build, and a foreign program by its emulator", () =>
  inTempDir(async (dir) => {
    const path = await script(dir, "program", '[ "$FLEET_DENO" = /deno ] && echo "fleetctl 1.2.3 (script)"');
    const check = { path, program: "fleetctl", version: "1.2.3", form: "script", denoPath: "/deno" } as const;
    await runArtifact(check);
    const emulator = { command: [await script(dir, "emulator", '[ "$1" = -L ] && shift 2 && exec "$@"'), "-L", "/x"] };
    await runArtifact({ ...check, emulator });
  }));

Deno.test("findEmulator() wants both the emulator and the libraries", () =>
  inTempDir(async (dir) => {
    const env = (name: string) => ({ PATH: `/nonexistent:${dir}`, QEMU_LD_PREFIX: join(dir, "root") })[name];
    assertEquals(await findEmulator("aarch64", env), null);
    const emulator = await script(dir, "qemu-aarch64-static", "");
    assertEquals(await findEmulator("aarch64", env), null);
    await Deno.mkdir(join(dir, "root", "lib"), { recursive: true });
    await Deno.writeTextFile(join(dir, "root", "lib", "ld-linux-aarch64.so.1"), "");
    assertEquals(await findEmulator("aarch64", env), { command: [emulator, "-L", join(dir, "root")] });
    assertEquals(await findEmulator("x86_64", env), null);
  }));
