import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { firstInstall, InstallWorld } from "./install_world.ts";

const KILLED = 137;
/** What the kernel's lock and the system's own services leave. */
const INCIDENTAL = /\.lock$|^\/run|\/linger/;

async function settled(world: InstallWorld): Promise<Record<string, string>> {
  return Object.fromEntries(Object.entries(await world.tree()).filter(([path]) => !INCIDENTAL.test(path)));
}

/** Nothing that has its final name is half of anything. */
async function assertWhole(world: InstallWorld, when: string): Promise<void> {
  for (const [path, what] of Object.entries(await world.tree())) {
    const name = path.split("/").at(-1) ?? "";
    if (name.startsWith(".harmony-install.")) continue;
    if (what.startsWith("-> /")) {
      const target = world.device(what.slice("-> ".length));
      assert(await Deno.stat(target).then((info) => info.isFile, () => false), `${when}: ${path} leads nowhere`);
    }
    if (/fleet-(?:agent|updater)-v[0-9.]+$/.test(name)) {
      assert(what.startsWith("755 #!/bin/sh\n") && what.endsWith("esac\n"), path);
    }
    if (name.endsWith(".json")) JSON.parse(what.slice("640 ".length));
    if (name === "nats-password") assertEquals(what, "640 secret\n", when);
  }
}

interface Killed {
  /** Makes the device that the run begins with. */
  readonly begin: (world: InstallWorld) => Promise<void>;
  readonly args: (world: InstallWorld) => string[];
  /** What must hold of every device on which the run was killed. */
  readonly always?: (world: InstallWorld, when: string) => Promise<void>;
}

/** Kills a run before each of its changes, and lets another one finish. */
async function killEverywhere({ args, begin, always = () => Promise.resolve() }: Killed): Promise<void> {
  let wanted: Record<string, string> = {};
  let calls = 0;
  await InstallWorld.use(async (world) => {
    await begin(world);
    const { code, err } = await world.live(args(world), { killAt: -1 });
    assertEquals([code, err], [0, ""]);
    calls = await world.calls();
    wanted = await settled(world);
  });
  assert(calls > 20, `${calls} calls`);
  const one = (killAt: number) =>
    InstallWorld.use(async (world) => {
      const when = `killed at ${killAt} of ${calls}`;
      await begin(world);
      const killed = await world.live(args(world), { killAt });
      assertEquals(killed.code, KILLED, `${when}: ${killed.err}`);
      await assertWhole(world, when);
      await always(world, when);
      const { code, err } = await world.live(args(world));
      assertEquals([code, err], [0, ""], when);
      assertEquals(await settled(world), wanted, when);
    });
  const numbers = Array.from({ length: calls }, (_, index) => index + 1);
  // Two at once: a run mostly waits for small programs.
  const worker = async () => {
    for (let next = numbers.shift(); next !== undefined; next = numbers.shift()) await one(next);
  };
  await Promise.all([worker(), worker()]);
}

Deno.test("a first install that was killed before any of its changes is finished by the next run", () =>
  killEverywhere({
    begin: async (world) => {
      await world.release("1.0.0");
      await world.addPodman();
    },
    args: (world) => firstInstall(world, world.path("release-1.0.0")),
  }));

Deno.test("an upgrade by install.sh that was killed leaves both programs in place, and is finished by the next run", () =>
  killEverywhere({
    begin: async (world) => {
      assertEquals((await world.live(firstInstall(world, await world.release("1.0.0")))).code, 0);
      await Deno.writeTextFile(world.path("password"), "secret\n");
      await world.release("2.0.0");
    },
    args: (world) => ["--from", world.path("release-2.0.0"), "--switch-agent"],
    always: async (world) => {
      for (const path of ["/usr/local/bin/fleet-agent", "/usr/local/sbin/fleet-updater"]) {
        assertStringIncludes(await Deno.readLink(world.device(path)), "/usr/lib/harmony-fleet/fleet-");
      }
    },
  }));

Deno.test("an uninstall that was killed is finished by the next run", () =>
  killEverywhere({
    begin: async (world) => {
      assertEquals((await world.live(firstInstall(world, await world.release("1.0.0")))).code, 0);
    },
    args: () => ["--uninstall", "--purge"],
  }));

Deno.test("what was changed and not yet restarted is restarted by the next run", () =>
  InstallWorld.use(async (world) => {
    assertEquals((await world.live(firstInstall(world, await world.release("1.0.0")))).code, 0);
    const release = await world.release("2.0.0");
    const args = ["--from", release, "--switch-agent"];
    await world.live([...args, "--dry-run"]);
    for (let killAt = 1;; killAt++) {
      assert(killAt < 200);
      assertEquals((await world.live(args, { killAt })).code, KILLED);
      const link = await Deno.readLink(world.device("/usr/local/bin/fleet-agent"));
      if (link.endsWith("-v2.0.0")) break;
    }
    await Deno.remove(world.path("state", "log"));
    assertEquals((await world.live(args)).code, 0);
    assert((await world.orders()).includes("systemctl restart --no-block fleet-agent.service"));
  }));
