import { assert, assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { agentConfig } from "../../agent/config.ts";
import { readConfig } from "../../lib/config/read_config.ts";
import { updaterConfig } from "../../updater/config.ts";
import { firstInstall, InstallWorld } from "./install_world.ts";

const AGENT = "/usr/lib/harmony-fleet/fleet-agent-v1.0.0";
const UPDATER = "/usr/lib/harmony-fleet/fleet-updater-v1.0.0";

/** Every shell here that may be a device's `sh`. */
async function shells(): Promise<string[]> {
  const found: string[] = [];
  for (const shell of ["dash", "bash", "busybox"]) {
    const { success } = await new Deno.Command("sh", { args: ["-c", `command -v ${shell}`], stdout: "null" }).output();
    if (success && !(shell === "busybox" && await prefersApplets())) found.push(shell);
  }
  return found;
}

/** Some builds of busybox run their own commands whatever PATH says: then nothing can stand in for the system's. */
async function prefersApplets(): Promise<boolean> {
  const args = ["sh", "-c", "PATH=/none; ls /"];
  return (await new Deno.Command("busybox", { args, stdout: "null", stderr: "null" }).output()).success;
}

for (const shell of await shells()) {
  Deno.test(`install.sh sets a device up, starts it, and waits for READY (${shell})`, () =>
    InstallWorld.use(async (world) => {
      const release = await world.release("1.0.0");
      const before = await world.tree(release);
      // A device whose login shell is busybox has it as sh.
      const options = shell === "busybox" ? { shell: world.path("fakes", "sh") } : { shell };
      if (shell === "busybox") {
        await Deno.writeTextFile(options.shell, '#!/bin/sh\nexec busybox sh "$@"\n', { mode: 0o755 });
      }
      const { code, err, out } = await world.live(firstInstall(world, release), options);
      assertEquals([code, err], [0, ""]);
      assertStringIncludes(out, "+ fleet-agent 1.0.0 is READY\n");
      const tree = await world.tree();
      const modes: Record<string, string> = {
        "/etc/harmony-fleet": "750",
        "/etc/harmony-fleet/agent.json": "640",
        "/etc/harmony-fleet/updater.json": "640",
        "/etc/harmony-fleet/nats-password": "640",
        "/usr/lib/harmony-fleet": "755",
        [AGENT]: "755",
        [UPDATER]: "755",
        "/usr/local/bin/fleet-agent": "->",
        "/usr/local/sbin/fleet-updater": "->",
        "/var/lib/harmony-fleet": "755",
        "/var/lib/harmony-fleet/agent": "700",
        "/var/lib/harmony-fleet/home": "700",
        "/var/lib/harmony-fleet/updater": "700",
      };
      const ours = Object.entries(tree).filter(([path]) => path.includes("fleet") && !/\/(systemd|run)\//.test(path));
      assertEquals(Object.fromEntries(ours.map(([path, what]) => [path, what.split(" ")[0]])), modes);
      assertEquals(tree["/usr/local/bin/fleet-agent"], `-> ${AGENT}`);
      assertEquals(tree["/usr/local/sbin/fleet-updater"], `-> ${UPDATER}`);
      assertEquals(await world.tree(release), before);
    }));
}

Deno.test("install.sh writes configurations that agent and updater read", () =>
  InstallWorld.use(async (world) => {
    const release = await world.release("1.0.0");
    for (const name of ["token", "creds", "ca", "artifacts"]) await world.write(world.path(name), name);
    const configure = async (...options: string[]) => {
      const base = ["--from", release, "--device-id=device-1", "--nats-server=tls://a:4222"];
      assertEquals((await world.live([...base, ...options])).code, 0);
      const path = (name: string) => world.device(`/etc/harmony-fleet/${name}`);
      const agent = await readConfig(path("agent.json"), agentConfig);
      return { nats: agent.nats, agent, updater: await readConfig(path("updater.json"), updaterConfig) };
    };
    const plain = await configure();
    assertEquals(plain.nats, { servers: ["tls://a:4222"] });
    assertEquals([plain.agent.deviceId, plain.agent.root], ["device-1", ""]);
    assertEquals(plain.updater.services.kind as string, "systemd");
    assertEquals([plain.updater.agentUser, plain.updater.socketGroup], ["fleet-agent", "fleet-agent"]);
    assertEquals(
      (await configure(
        "--nats-server",
        "nats://[::1]:4222",
        "--nats-user=u",
        "--nats-password-file",
        world.path("password"),
      ))
        .nats,
      { servers: ["tls://a:4222", "nats://[::1]:4222"], user: "u", passwordFile: "/etc/harmony-fleet/nats-password" },
    );
    assertEquals(
      (await configure("--token-file", world.path("token"))).nats.tokenFile,
      "/etc/harmony-fleet/nats-token",
    );
    const last = await configure(
      ...[
        "--creds-file",
        world.path("creds"),
        "--ca-file",
        world.path("ca"),
        "--artifact-ca-file",
        world.path("artifacts"),
      ],
    );
    assertEquals(last.nats.credentialsFile, "/etc/harmony-fleet/nats.creds");
    assertEquals(last.nats.caFile, "/etc/harmony-fleet/ca.pem");
    assertEquals(last.updater.tls?.caFile, "/etc/harmony-fleet/artifact-ca.pem");
    assertEquals(await Deno.readTextFile(world.device("/etc/harmony-fleet/artifact-ca.pem")), "artifacts");
    const previous = await Deno.readTextFile(world.device("/etc/harmony-fleet/agent.json.previous"));
    assertStringIncludes(previous, "nats-token");
  }));

Deno.test("install.sh takes whole configurations", () =>
  InstallWorld.use(async (world) => {
    const release = await world.release("1.0.0");
    await world.write(world.path("agent"), '{"the":"agent"}');
    await world.write(world.path("updater"), '{"the":"updater"}');
    const files = ["--agent-config", world.path("agent"), "--updater-config", world.path("updater")];
    assertEquals((await world.live(["--from", release, ...files])).code, 0);
    const tree = await world.tree();
    assertEquals(tree["/etc/harmony-fleet/agent.json"], '640 {"the":"agent"}');
    assertEquals(tree["/etc/harmony-fleet/updater.json"], '640 {"the":"updater"}');
  }));

Deno.test("install.sh changes nothing when everything is as it should be, with options and without", () =>
  InstallWorld.use(async (world) => {
    const release = await world.release("1.0.0");
    await world.addPodman();
    const args = firstInstall(world, release);
    assertEquals((await world.live(args)).code, 0);
    const [tree, orders] = [await world.tree(), await world.orders()];
    for (const again of [args, ["--from", release]]) {
      const { code, out } = await world.live(again);
      assertEquals(code, 0);
      assertStringIncludes(out, "Nothing to change\n");
    }
    assertEquals(await world.tree(), tree);
    const later = (await world.orders()).slice(orders.length).filter((order) => !/ (?:show|enable) /.test(order));
    assertEquals(later, []);
  }));

Deno.test("install.sh mends what was changed by hand", () =>
  InstallWorld.use(async (world) => {
    const release = await world.release("1.0.0");
    const args = firstInstall(world, release);
    assertEquals((await world.live(args)).code, 0);
    const tree = await world.tree();
    await Deno.chmod(world.device("/etc/harmony-fleet/nats-password"), 0o644);
    await Deno.chmod(world.device("/var/lib/harmony-fleet/updater"), 0o755);
    await Deno.writeTextFile(world.device("/etc/systemd/system/fleet-agent.service"), "[Unit]\n");
    await Deno.writeTextFile(world.device(UPDATER), "damaged");
    await Deno.remove(world.device("/usr/local/bin/fleet-agent"));
    const { code, err, out } = await world.live(args);
    assertEquals([code, err], [0, ""]);
    assertStringIncludes(out, "5 changes\n");
    assertEquals(await world.tree(), tree);
  }));

Deno.test("install.sh --dry-run says what it would do and does nothing", () =>
  InstallWorld.use(async (world) => {
    const release = await world.release("1.0.0");
    const before = await world.tree();
    // Nobody has to be root to look.
    const { code, err, out } = await world.live([...firstInstall(world, release), "--dry-run"], {
      env: { FAKE_UID: "1" },
    });
    assertEquals([code, err], [0, ""]);
    assertStringIncludes(out, `would install ${AGENT}\n`);
    assertStringIncludes(out, `would link /usr/local/bin/fleet-agent to ${AGENT}\n`);
    assertFalse(out.includes("\n+ "));
    assertEquals(await world.tree(), before);
    assertEquals(await world.orders(), []);
  }));

Deno.test("install.sh --no-start starts nothing, and the next run does", () =>
  InstallWorld.use(async (world) => {
    const release = await world.release("1.0.0");
    assertEquals((await world.live([...firstInstall(world, release), "--no-start"])).code, 0);
    assertEquals((await world.orders()).filter((order) => / (?:start|restart|stop) /.test(order)), []);
    const { code, out } = await world.live(["--from", release]);
    assertEquals(code, 0);
    assertStringIncludes(out, "+ fleet-updater 1.0.0 runs\n");
    assertStringIncludes(out, "+ fleet-agent 1.0.0 is READY\n");
  }));

Deno.test("install.sh --root prepares an image: nothing is run, the first boot makes user and owners", () =>
  InstallWorld.use(async (world) => {
    const release = await world.release("1.0.0", ["aarch64", "script"]);
    const args = [...firstInstall(world, release), "--root", world.root, "--arch", "aarch64"];
    const { code, err } = await world.run(args);
    assertEquals([code, err], [0, ""]);
    assertEquals(await world.orders(), []);
    const tree = await world.tree();
    for (const unit of ["fleet-agent.service", "fleet-updater.service"]) {
      assertEquals(tree[`/etc/systemd/system/multi-user.target.wants/${unit}`], `-> ../${unit}`);
    }
    assertStringIncludes(tree["/usr/lib/sysusers.d/harmony-fleet.conf"] ?? "", "u fleet-agent - ");
    assertStringIncludes(
      tree["/usr/lib/tmpfiles.d/harmony-fleet.conf"] ?? "",
      "z /etc/harmony-fleet/* 0640 root fleet-agent",
    );
    assertFalse(Object.keys(tree).some((path) => path.includes("setup-")));
    assertStringIncludes((await world.run(args)).out, "Nothing to change\n");
    assertEquals((await world.run(["--root", world.root, "--uninstall", "--purge"])).code, 0);
    const left = Object.entries(await world.tree()).filter(([, what]) => !what.endsWith("folder"));
    assertEquals(left, []);
  }));

Deno.test("install.sh gives the agent's user rootless Podman where Podman is", () =>
  InstallWorld.use(async (world) => {
    const release = await world.release("1.0.0");
    await world.addPodman();
    await world.write(world.device("/etc/subuid"), "somebody:100000:65536\nother:300000:1000\n");
    const { code, err } = await world.live(firstInstall(world, release));
    assertEquals([code, err], [0, ""]);
    const orders = await world.orders();
    assert(orders.includes("usermod --add-subuids 301000-366535 fleet-agent"), orders.join("\n"));
    assert(orders.includes("usermod --add-subgids 100000-165535 fleet-agent"), orders.join("\n"));
    assert(orders.includes("loginctl enable-linger fleet-agent"));
    assert(orders.includes("systemctl --user -M fleet-agent@ enable --now podman.socket"));
    assert(orders.includes("systemctl --user -M fleet-agent@ enable podman-restart.service"));
    // Having Podman is one thing; to be asked to use it is another.
    const config = async () =>
      JSON.parse(await Deno.readTextFile(world.device("/etc/harmony-fleet/agent.json"))).podman;
    assertEquals(await config(), undefined);
    assertEquals((await world.live([...firstInstall(world, release), "--podman"])).code, 0);
    assertEquals(await config(), { enabled: true });
  }));

Deno.test("install.sh enables linger by hand where logind refuses to", () =>
  InstallWorld.use(async (world) => {
    const release = await world.release("1.0.0");
    await world.addPodman();
    await world.tell("fail-loginctl", "");
    const { code, err } = await world.live(firstInstall(world, release));
    assertEquals([code, err], [0, ""]);
    assert((await world.orders()).includes("systemctl start user@0.service"));
    assert(Object.keys(await world.tree()).includes("/var/lib/systemd/linger/fleet-agent"));
    assertStringIncludes((await world.live(["--from", release])).out, "Nothing to change\n");
  }));
