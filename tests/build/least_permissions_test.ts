/**
 * Each program is granted what it uses and nothing else: without any one of its grants, a short run of it breaks. A grant
 * is a flag, or one name in a flag's list.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { type ProgramName, PROGRAMS } from "../../build/programs.ts";
import { errorText } from "../../contracts/errors.ts";
import { ProcessFixture } from "../integration/agent/agent_process.ts";
import { FleetctlWorld } from "../integration/fleetctl/fleetctl_world.ts";
import { startNatsServer } from "../nats/nats_server.ts";
import { waitUntil } from "../nats/wait_until.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The kinds of permission that the runtime knows, which `--allow-all` grants together. */
const KINDS = ["read", "write", "run", "net", "env", "sys", "ffi", "import"] as const;

/** Says what does not work; null when everything does. */
type Run = (permissions: readonly string[]) => Promise<string | null>;

/** The flags without one grant, for each grant. */
function lessOne(permissions: readonly string[]): Map<string, string[]> {
  const less = new Map<string, string[]>();
  permissions.forEach((flag, index) => {
    const [kind = "", list] = flag.split("=");
    const names = list === undefined ? [] : list.split(",");
    const others = permissions.toSpliced(index, 1);
    if (names.length < 2) less.set(flag, others);
    else {
      names.forEach((name, at) => less.set(`${kind}=${name}`, [...others, `${kind}=${names.toSpliced(at, 1).join()}`]));
    }
  });
  return less;
}

async function assertLeast(program: ProgramName, run: Run): Promise<void> {
  const { permissions } = PROGRAMS[program];
  assertEquals(await run(permissions), null, "with all grants");
  const spare: string[] = [];
  for (const [grant, less] of lessOne(permissions)) if (await run(less) === null) spare.push(grant);
  assertEquals(spare, [], "grants without which everything works");
}

Deno.test("lessOne() leaves out a flag, or one name of a list", () => {
  assertEquals([...lessOne(["--allow-read", "--allow-env=A,B", "--allow-sys=uid"])], [
    ["--allow-read", ["--allow-env=A,B", "--allow-sys=uid"]],
    ["--allow-env=A", ["--allow-read", "--allow-sys=uid", "--allow-env=B"]],
    ["--allow-env=B", ["--allow-read", "--allow-sys=uid", "--allow-env=A"]],
    ["--allow-sys=uid", ["--allow-read", "--allow-env=A,B"]],
  ]);
});

/** Starts an agent and says why it does not report; null when it does. */
async function reports(fixture: ProcessFixture, bootId: string): Promise<string | null> {
  const agent = fixture.start();
  try {
    await agent.untilReady();
    const beat = await waitUntil("a heartbeat", async () => {
      const last = await fixture.beat();
      return last?.bootId === bootId ? last : null;
    });
    return Object.keys(beat.vitals?.freeBytes ?? {}).length > 0 ? null : "no free bytes";
  } catch (error) {
    return errorText(error);
  } finally {
    await agent.stop();
  }
}

/** Starts an agent and says why it does not look for its user's Podman; null when it does. */
async function looksForPodman(fixture: ProcessFixture): Promise<string | null> {
  const agent = fixture.start();
  const looked = () => agent.ready || agent.output.includes('"step":"podman"');
  await waitUntil("the step", () => agent.code !== undefined || looked(), 60_000);
  await agent.stop();
  return looked() ? null : agent.output;
}

Deno.test("fleet-agent has the least permissions: without any one it is not ready, or does not report", () =>
  ProcessFixture.use(async (fixture) => {
    await assertLeast("fleet-agent", async (permissions) => {
      const bootId = crypto.randomUUID();
      fixture.permissions = permissions;
      fixture.environment = { FLEET_AGENT_BOOT_ID: bootId };
      await fixture.configure({ bounds: { natsRetryWindowMs: 2_000 } });
      const problem = await reports(fixture, bootId);
      if (problem !== null) return problem;
      await fixture.configure({ podman: { enabled: true } });
      return await looksForPodman(fixture);
    });
  }));

Deno.test("fleet-operator has the least permissions: without any one it does not read its fleet", async () => {
  const server = await startNatsServer();
  const directory = await Deno.makeTempDir();
  try {
    const path = `${directory}/operator.json`;
    await Deno.writeTextFile(path, JSON.stringify({ nats: { servers: [server.url] }, fleetSize: 10 }));
    await assertLeast("fleet-operator", async (permissions) => {
      const { entryPoint } = PROGRAMS["fleet-operator"];
      const child = new Deno.Command(Deno.execPath(), {
        args: ["run", "--quiet", "--no-prompt", ...permissions, `${ROOT}${entryPoint}`, "--config", path],
        stdin: "null",
        stdout: "null",
        stderr: "piped",
      }).spawn();
      let said = "";
      for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
        said += text;
        // Either is the end of what there is to see.
        if (/the fleet is read|cannot connect/.test(said)) child.kill("SIGTERM");
      }
      await child.status;
      return said.includes("the fleet is read") ? null : said;
    });
  } finally {
    await server.stop();
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("fleetctl has the least permissions: without any one it does not get, apply or help", async () => {
  const world = await FleetctlWorld.open();
  try {
    await (await world.store()).create("Device", { name: "d1", labels: {}, spec: { groups: [] } });
    const file = await world.file(
      "device.yaml",
      "apiVersion: fleet.nationtech.io/v1alpha1\nkind: Device\nmetadata: {name: d1}\nspec: {groups: [edge]}\n",
    );
    await assertLeast("fleetctl", async (permissions) => {
      for (const args of [["get", "devices"], ["apply", "--dry-run", "-f", file], ["--help"]]) {
        const { code, out, err } = await world.run(args, { permissions });
        if (code !== 0 || out === "") return `${args.join(" ")}: ${code}: ${err}`;
      }
      return null;
    });
  } finally {
    await world.close();
  }
});

Deno.test("the updater needs every permission: the runtime opens /proc to no program that lacks one", async () => {
  assertEquals(PROGRAMS["fleet-updater"].permissions, ["--allow-all"]);
  const module = new URL("../../updater/process/process_table.ts", import.meta.url);
  const code = `import { processInfo } from "${module}"; if (processInfo(Deno.pid) === null) Deno.exit(1);`;
  const finds = async (kinds: readonly string[]) => {
    const path = await Deno.makeTempFile({ suffix: ".ts" });
    try {
      await Deno.writeTextFile(path, code);
      const { success } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--quiet", "--no-prompt", "--no-check", ...kinds.map((kind) => `--allow-${kind}`), path],
        stdin: "null",
      }).output();
      return success;
    } finally {
      await Deno.remove(path);
    }
  };
  assert(await finds(KINDS));
  for (const kind of KINDS) assert(!await finds(KINDS.filter((other) => other !== kind)), kind);
});
