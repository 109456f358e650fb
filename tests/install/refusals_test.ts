import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { firstInstall, InstallWorld } from "./install_world.ts";

async function assertRefused(
  world: InstallWorld,
  args: readonly string[],
  message: RegExp,
  { code = 1, env = {} }: { readonly code?: number; readonly env?: Record<string, string> } = {},
): Promise<void> {
  const before = await world.tree();
  const run = await world.live(args, { env });
  assertEquals([run.code, run.err.trimEnd().split("\n").length], [code, 1], run.err);
  assertMatch(run.err, message);
  const { "/run/harmony-fleet-setup.lock": _lock, "/usr/lib/harmony-fleet": _folder, ...after } = await world.tree();
  const { "/run/harmony-fleet-setup.lock": _before, "/usr/lib/harmony-fleet": _was, ...unchanged } = before;
  assertEquals(after, unchanged);
}

Deno.test("install.sh refuses an unsupported system in one line", () =>
  InstallWorld.use(async (world) => {
    const args = firstInstall(world, await world.release("1.0.0"));
    const refused = (env: Record<string, string>, message: RegExp) => assertRefused(world, args, message, { env });
    await refused({ FAKE_KERNEL: "Darwin" }, /cannot install on Darwin/);
    await refused({ FAKE_MACHINE: "armv7l" }, /cannot install on armv7l: there are programs for x86_64 and aarch64/);
    await refused({ FAKE_MACHINE: "aarch64", FAKE_LONG_BIT: "32" }, /32-bit system on a 64-bit kernel/);
    await refused({ FAKE_LIBC: "none" }, /glibc 2\.27 or newer is needed, this is another C library/);
    await refused({ FAKE_LIBC: "glibc 2.26" }, /this is glibc 2\.26/);
    await refused({ FAKE_UID: "1000" }, /must run as root/);
    await refused({ FAKE_PAGESIZE: "16384" }, /the script form: it needs deno 2\.9/);
    await Deno.rename(world.device("/run/systemd/system"), world.device("/run/systemd/was"));
    await refused({}, /systemd does not run this system/);
  }));

Deno.test("install.sh accepts every glibc from 2.27", () =>
  InstallWorld.use(async (world) => {
    const args = [...firstInstall(world, await world.release("1.0.0")), "--dry-run"];
    for (const libc of ["2.27", "2.28", "2.31", "2.36", "2.41", "2.100", "3.0"]) {
      assertEquals((await world.live(args, { env: { FAKE_LIBC: `glibc ${libc}` } })).code, 0, libc);
    }
  }));

Deno.test("install.sh refuses a release that is not what its sums say, or not what it calls itself", () =>
  InstallWorld.use(async (world) => {
    const release = await world.release("1.0.0");
    const args = firstInstall(world, release);
    const program = join(release, "bin/x86_64/fleet-updater");
    const good = await Deno.readTextFile(program);
    await Deno.writeTextFile(program, `${good}\n# one byte more`);
    await assertRefused(world, args, /bin\/x86_64\/fleet-updater is not what SHA256SUMS says/);
    await Deno.writeTextFile(program, good.replaceAll("1.0.0", "9.9.9"));
    await world.sign(release);
    await assertRefused(world, args, /cannot use fleet-updater 1\.0\.0: --version says "fleet-updater 9\.9\.9/);
    await Deno.writeTextFile(program, "#!/bin/sh\necho 'Illegal instruction' >&2\nexit 132\n");
    await world.sign(release);
    await assertRefused(world, args, /cannot run fleet-updater 1\.0\.0 on this machine: Illegal instruction/);
    await Deno.remove(program);
    // cp says it too, in a line of its own.
    assertMatch((await world.live(args)).err, /install.sh: cannot read .*fleet-updater\n$/);
    await world.sign(release);
    await assertRefused(world, [...args, "--form=compiled"], /has no fleet-updater for x86_64 in the compiled form/);
    await assertRefused(world, [...args, "--sums-sha256", "0".repeat(64)], /not the one that --sums-sha256 names/);
    await assertRefused(world, ["--from", world.directory, ...args.slice(2)], /is not a release folder/);
    await Deno.writeTextFile(join(release, "VERSION"), "../../etc\n");
    await world.sign(release);
    await assertRefused(world, args, /"\.\.\/\.\.\/etc" is no version/);
  }));

Deno.test("install.sh names what is wrong with its command line, and ends with 64", () =>
  InstallWorld.use(async (world) => {
    const release = await world.release("1.0.0");
    const wrong = (args: string[], message: RegExp) =>
      assertRefused(world, ["--from", release, ...args], message, { code: 64 });
    const configured = ["--device-id=device-1", "--nats-server=tls://a"];
    await wrong([], /no configuration yet: --device-id and --nats-server are needed/);
    await wrong(["--colour"], /unknown option: --colour/);
    await wrong(["--device-id"], /--device-id needs a value/);
    await wrong(["--device-id="], /--device-id needs a value/);
    await wrong(["--device-id=device-1"], /needs --nats-server/);
    await wrong(["--nats-server=tls://a"], /needs --device-id/);
    for (const id of ["Device", "-a", "a-", "a_b", "a".repeat(64), 'a"b', "a\nb"]) {
      await assertRefused(world, ["--from", release, `--device-id=${id}`, "--nats-server=tls://a"], /--device-id: /, {
        code: 64,
      }).catch((error) => {
        // A message with a line end of the value's own has two lines.
        if (!id.includes("\n")) throw error;
      });
    }
    for (const url of ["http://a", "tls://user@a", 'tls://a"', "tls://a:123456", "tls://a b"]) {
      await wrong(["--device-id=a", `--nats-server=${url}`], /--nats-server: must be like tls:\/\/host:4222/);
    }
    await wrong([...configured, "--nats-user=a"], /--nats-user needs --nats-password-file/);
    await wrong([...configured, "--nats-password-file", world.path("password")], /needs --nats-user/);
    await wrong([...configured, '--nats-user=a"b', "--token-file", world.path("password")], /--nats-user: must be/);
    const two = ["--token-file", world.path("password"), "--creds-file", world.path("password")];
    await wrong([...configured, ...two], /more than one login/);
    await wrong(["--form=tar"], /--form: "tar" is not compiled or script/);
    await wrong(["--arch=riscv64"], /--arch: "riscv64"/);
    await wrong(["--purge"], /--purge belongs to --uninstall/);
    await wrong([...configured, "--agent-config", world.path("password")], /stands instead of the options for NATS/);
    await assertRefused(world, ["--from", "http://host/", ...configured], /neither a folder nor an https URL/, {
      code: 64,
    });
    await assertRefused(world, ["--from", release, ...configured, "--ca-file=/none"], /cannot read \/none/);
    assertEquals((await world.run(["--live"])).code, 64);
    const { code, out } = await world.run(["--help"]);
    assertEquals(code, 0);
    assertStringIncludes(out, "usage: install.sh");
  }));

Deno.test("install.sh takes a device id of 63 characters", () =>
  InstallWorld.use(async (world) => {
    const release = await world.release("1.0.0");
    for (const id of ["a", "a".repeat(62), "a".repeat(63)]) {
      const args = ["--from", release, "--device-id", id, "--nats-server", "tls://a", "--dry-run"];
      assertEquals((await world.live(args)).code, 0);
    }
  }));

Deno.test("install.sh refuses to change the selected binary in place", () =>
  InstallWorld.use(async (world) => {
    const release = await world.release("1.0.0");
    const args = firstInstall(world, release);
    assertEquals((await world.live(args)).code, 0);
    const program = join(release, "bin/x86_64/fleet-agent");
    await Deno.writeTextFile(program, `${await Deno.readTextFile(program)}# another one\n`);
    await world.sign(release);
    await assertRefused(world, args, /another fleet-agent that also calls itself 1\.0\.0/);
  }));

Deno.test("install.sh does not run twice at once", () =>
  InstallWorld.use(async (world) => {
    const args = firstInstall(world, await world.release("1.0.0"));
    const lock = await Deno.open(world.device("/run/harmony-fleet-setup.lock"), { create: true, write: true });
    await lock.lock(true);
    try {
      await assertRefused(world, args, /another install\.sh runs/);
    } finally {
      lock.close();
    }
    assertEquals((await world.live(args)).code, 0);
  }));
