import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { InstallWorld } from "./install_world.ts";

const BUILD = new URL("../../build/main.ts", import.meta.url).pathname;

Deno.test("the install.sh of a built release installs its programs, and they run", () =>
  InstallWorld.use(async (world) => {
    const release = world.path("release");
    const built = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--allow-all", BUILD, "--out", release, "--format=script", "--version=3.2.1"],
      stdin: "null",
    }).output();
    assertEquals(new TextDecoder().decode(built.stderr), "");
    const { code, stderr } = await new Deno.Command(join(release, "install.sh"), {
      args: [
        "--root",
        world.root,
        "--deno",
        Deno.execPath(),
        "--device-id=device-1",
        "--nats-server=nats://127.0.0.1:4222",
      ],
      stdin: "null",
    }).output();
    assertEquals([code, new TextDecoder().decode(stderr)], [0, ""]);

    const run = async (link: string, ...args: string[]) => {
      const path = world.device(await Deno.readLink(world.device(link)));
      const env = { FLEET_DENO: world.device("/usr/lib/harmony-fleet/deno") };
      const output = await new Deno.Command(path, { args, env, stdin: "null" }).output();
      return { code: output.code, out: new TextDecoder().decode(output.stdout) };
    };
    assertMatch((await run("/usr/local/bin/fleet-agent", "--version")).out, /^fleet-agent 3\.2\.1 \(.*script\)\n$/);
    assertMatch((await run("/usr/local/sbin/fleet-updater", "--version")).out, /^fleet-updater 3\.2\.1 \(script\)\n$/);
    assertEquals(await run("/usr/local/sbin/fleet-updater", "idle", "--root", world.root), {
      code: 0,
      out: "idle: no upgrade yet\n",
    });
    // The agent takes the configuration, and gets as far as looking for NATS.
    const config = JSON.parse(await Deno.readTextFile(world.device("/etc/harmony-fleet/agent.json")));
    const impatient = { ...config, bounds: { natsRetryWindowMs: 200, natsConnectTimeoutMs: 200 } };
    await world.write(world.path("agent.json"), JSON.stringify(impatient), 0o640);
    const selfTest = await run("/usr/local/bin/fleet-agent", "--self-test", "--config", world.path("agent.json"));
    assertStringIncludes(selfTest.out, '{"name":"config","result":"ok"');
  }));
