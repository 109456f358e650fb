import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { firstInstall, InstallWorld } from "./install_world.ts";

const AGENT_LINK = "/usr/local/bin/fleet-agent";
const UPDATER_LINK = "/usr/local/sbin/fleet-updater";
const JOURNAL = "/var/lib/harmony-fleet/updater/upgrade.json";
const LIBRARY = "/usr/lib/harmony-fleet";

/** A device at 1.0.0 whose updater has had an upgrade, and the release 1.1.0. */
async function installed(world: InstallWorld): Promise<string> {
  assertEquals((await world.live(firstInstall(world, await world.release("1.0.0")))).code, 0);
  await world.write(world.device(JOURNAL), "{}");
  await Deno.remove(world.path("state", "log"));
  return await world.release("1.1.0");
}

/** The orders that start, stop or restart something. */
async function actions(world: InstallWorld): Promise<string[]> {
  return (await world.orders()).filter((order) => / (?:start|stop|restart) /.test(order));
}

const link = (world: InstallWorld, path: string) => Deno.readLink(world.device(path));

Deno.test("install.sh upgrades the updater in place and leaves the agent alone", () =>
  InstallWorld.use(async (world) => {
    const release = await installed(world);
    const { code, err, out } = await world.live(["--from", release]);
    assertEquals([code, err], [0, ""]);
    assertStringIncludes(out, "The agent stays at 1.0.0");
    assertEquals(await link(world, UPDATER_LINK), `${LIBRARY}/fleet-updater-v1.1.0`);
    assertEquals(await link(world, AGENT_LINK), `${LIBRARY}/fleet-agent-v1.0.0`);
    assertFalse(Object.keys(await world.tree()).includes(`${LIBRARY}/fleet-agent-v1.1.0`));
    assertEquals(await actions(world), [
      "systemctl stop fleet-updater.service",
      "systemctl start fleet-updater.service",
    ]);
  }));

Deno.test("install.sh --switch-agent selects the release's agent", () =>
  InstallWorld.use(async (world) => {
    const release = await installed(world);
    assertEquals((await world.live(["--from", release, "--switch-agent"])).code, 0);
    assertEquals(await link(world, AGENT_LINK), `${LIBRARY}/fleet-agent-v1.1.0`);
    assert((await actions(world)).includes("systemctl restart --no-block fleet-agent.service"));
  }));

Deno.test("install.sh selects an agent where the link leads nowhere", () =>
  InstallWorld.use(async (world) => {
    const release = await installed(world);
    await Deno.remove(world.device(`${LIBRARY}/fleet-agent-v1.0.0`));
    assertEquals((await world.live(["--from", release])).code, 0);
    assertEquals(await link(world, AGENT_LINK), `${LIBRARY}/fleet-agent-v1.1.0`);
  }));

Deno.test("install.sh restarts the agent when its configuration has changed, and only it", () =>
  InstallWorld.use(async (world) => {
    await installed(world);
    await Deno.writeTextFile(world.path("password"), "another secret");
    assertEquals((await world.live(firstInstall(world, world.path("release-1.0.0")))).code, 0);
    assertEquals(await actions(world), ["systemctl restart --no-block fleet-agent.service"]);
  }));

Deno.test("install.sh refuses while an upgrade is under way, and changes nothing", () =>
  InstallWorld.use(async (world) => {
    const release = await installed(world);
    await world.tell("idle-code", "4");
    const before = await world.tree();
    for (const args of [["--from", release], ["--from", release, "--switch-agent"], ["--uninstall", "--purge"]]) {
      const { code, err } = await world.live(args);
      assertEquals(code, 4);
      assertEquals(
        err,
        "install.sh: refused: said by fleet-updater 1.0.0: code 4; run this again when the upgrade is over\n",
      );
    }
    assertEquals(await world.tree(), before);
    assertEquals(await actions(world), []);
  }));

Deno.test("install.sh takes back the stop of an updater that began an upgrade in the last moment", () =>
  InstallWorld.use(async (world) => {
    const release = await installed(world);
    await world.tell("on-stop-fleet-updater.service", `echo 4 >"$FAKE_STATE/idle-code"\n`);
    for (const args of [["--from", release], ["--uninstall"]]) {
      await world.tell("idle-code", "0");
      const { code, err } = await world.live(args);
      assertEquals(code, 4, err);
      assertEquals(await link(world, UPDATER_LINK), `${LIBRARY}/fleet-updater-v1.0.0`);
      assertEquals((await actions(world)).at(-1), "systemctl start fleet-updater.service");
    }
    await Deno.remove(world.path("state", "on-stop-fleet-updater.service"));
    await world.tell("idle-code", "0");
    assertEquals((await world.live(["--from", release])).code, 0);
    assertEquals(await link(world, UPDATER_LINK), `${LIBRARY}/fleet-updater-v1.1.0`);
  }));

Deno.test("install.sh goes no further when nobody can tell whether an upgrade is under way", () =>
  InstallWorld.use(async (world) => {
    const release = await installed(world);
    await world.tell("idle-code", "75");
    const before = await world.tree();
    const { code, err } = await world.live(["--from", release]);
    assertEquals(code, 1);
    assertMatch(
      err,
      /^install\.sh: cannot tell whether an upgrade is under way: said by fleet-updater 1\.1\.0: code 75\n$/,
    );
    assertEquals(await world.tree(), before);
  }));

Deno.test("install.sh replaces the updater of a quarantined device, and touches nothing of its agent", () =>
  InstallWorld.use(async (world) => {
    const release = await installed(world);
    for (const [code, word] of [["3", "quarantined"], ["78", "corrupt"]] as const) {
      await world.tell("idle-code", code);
      const run = await world.live(["--from", release, "--switch-agent"]);
      assertEquals([run.code, run.err], [0, ""]);
      assertStringIncludes(run.out, `The agent is left alone while the device is ${word}\n`);
      assertEquals(await link(world, AGENT_LINK), `${LIBRARY}/fleet-agent-v1.0.0`);
      assertEquals(await link(world, UPDATER_LINK), `${LIBRARY}/fleet-updater-v1.1.0`);
      assertFalse((await actions(world)).some((order) => order.includes("fleet-agent")));
    }
  }));

Deno.test("install.sh takes the previous updater back when the new one does not start", () =>
  InstallWorld.use(async (world) => {
    const release = await installed(world);
    // Every start fails until the link leads to the old one again: the stand-in looks at nothing but this file.
    const unit = "fleet-updater.service";
    await world.tell(`on-stop-${unit}`, `: >"$FAKE_STATE/fail-${unit}"\n`);
    const { code, err } = await world.live(["--from", release]);
    assertEquals(code, 1);
    assertMatch(err, /neither the new fleet-updater starts nor the previous one/);
    assertEquals(await link(world, UPDATER_LINK), `${LIBRARY}/fleet-updater-v1.0.0`);
    for (const name of [`on-stop-${unit}`, `fail-${unit}`]) await Deno.remove(world.path("state", name));
    assertEquals((await world.live(["--from", release])).code, 0);
    assertEquals(await link(world, UPDATER_LINK), `${LIBRARY}/fleet-updater-v1.1.0`);
  }));

Deno.test("install.sh says why the agent is not READY, and whether it goes on trying", () =>
  InstallWorld.use(async (world) => {
    const args = firstInstall(world, await world.release("1.0.0"));
    await world.tell("exits-fleet-agent.service.status", "step=nats: connecting to nats.example");
    for (
      const [agent, wanted, text] of [["75", 75, /it goes on trying by itself/], ["78", 1, /run this again/]] as const
    ) {
      await world.tell("exits-fleet-agent.service", agent);
      const { code, err } = await world.live(args);
      assertEquals(code, wanted);
      assertStringIncludes(err, `not READY: step=nats: connecting to nats.example (exit-code, exit code ${agent})`);
      assertMatch(err, text);
    }
    await Deno.remove(world.path("state", "exits-fleet-agent.service"));
    const { code, out } = await world.live(args);
    assertEquals(code, 0);
    assertStringIncludes(out, "+ fleet-agent 1.0.0 is READY\n");
  }));

Deno.test("install.sh switches back from an agent that ends before it is READY", () =>
  InstallWorld.use(async (world) => {
    const release = await installed(world);
    await world.tell("exits-fleet-agent.service", "1");
    const { code, err } = await world.live(["--from", release, "--switch-agent"]);
    assertEquals(code, 1);
    assertStringIncludes(err, "the agent was switched back to 1.0.0");
    assertEquals(await link(world, AGENT_LINK), `${LIBRARY}/fleet-agent-v1.0.0`);
  }));

Deno.test("install.sh --uninstall keeps configuration and data, --purge does not", () =>
  InstallWorld.use(async (world) => {
    await installed(world);
    const data = async () =>
      Object.keys(await world.tree()).filter((path) => /fleet/.test(path) && !/\.lock$/.test(path));
    assertEquals((await world.live(["--uninstall"])).code, 0);
    assertEquals((await world.live(["--uninstall"])).out.split("\n").slice(-2), ["Nothing to remove", ""]);
    assertEquals(await data(), [
      "/etc/harmony-fleet",
      "/etc/harmony-fleet/agent.json",
      "/etc/harmony-fleet/nats-password",
      "/etc/harmony-fleet/updater.json",
      "/var/lib/harmony-fleet",
      "/var/lib/harmony-fleet/agent",
      "/var/lib/harmony-fleet/home",
      "/var/lib/harmony-fleet/updater",
      JOURNAL,
    ]);
    // What was kept is enough to come back.
    assertEquals((await world.live(["--from", world.path("release-1.1.0")])).code, 0);
    assertEquals((await world.live(["--uninstall", "--purge"])).code, 0);
    assertEquals(await data(), []);
    assert((await world.orders()).includes("userdel fleet-agent"));
  }));

Deno.test("install.sh installs the script form with the deno that it is given, by page size or by wish", () =>
  InstallWorld.use(async (world) => {
    const release = await world.release("1.0.0");
    const args = [...firstInstall(world, release), "--deno", Deno.execPath()];
    const { code, err, out } = await world.live(args, { env: { FAKE_PAGESIZE: "16384" } });
    assertEquals([code, err], [0, ""]);
    assertStringIncludes(out, "Form script for x86_64\n");
    assertStringIncludes(await Deno.readTextFile(world.device(`${LIBRARY}/fleet-agent-v1.0.0`)), "(script)");
    const deno = await Deno.stat(world.device(`${LIBRARY}/deno`));
    assertEquals([deno.size, (deno.mode ?? 0) & 0o777], [(await Deno.stat(Deno.execPath())).size, 0o755]);
    assertStringIncludes((await world.live(args, { env: { FAKE_PAGESIZE: "16384" } })).out, "Nothing to change\n");
    const refused = await world.live([...args.slice(0, -1), world.path("password"), "--form=script"]);
    assertMatch(refused.err, /is not a program for x86_64/);
  }));
