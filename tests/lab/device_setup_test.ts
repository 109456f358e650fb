/**
 * install.sh with compiled programs on booted devices: set up, repeat, upgrade the updater in place, an upgrade over NATS,
 * reboot, uninstall. The programs are those of `./dev build`, with base runtimes from package registries.
 *
 * @module
 */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { BUCKETS, deviceKey } from "../../contracts/buckets.ts";
import { Fleet } from "../fleet/fleet.ts";
import { waitUntil } from "../nats/wait_until.ts";
import { LabDevice } from "./lab_device.ts";
import { LAB_SYSTEMS, type LabSystem } from "./lab_image.ts";
import { labProblem } from "./lab_machine.ts";
import { reportResult } from "./lab_report.ts";
import { buildEnvironment, LAB_PRELUDE_PATH, labToolchain } from "./lab_toolchain.ts";

const BUILD = new URL("../../build/main.ts", import.meta.url).pathname;
const DEVICE_ID = "lab-setup";
const SHARE = "/mnt/share";
const AGENT = "fleet-agent.service";
const UPDATER = "fleet-updater.service";

interface Story {
  readonly fleet: Fleet;
  readonly device: LabDevice;
  /** The folder that the device sees as {@link SHARE}. */
  readonly share: string;
  readonly figures: Record<string, number>;
}

/** Builds a release with the compiled programs of this machine's architecture. */
async function buildCompiled(directory: string, version: string): Promise<void> {
  const toolchain = await labToolchain((line) =>
    void Deno.stderr.writeSync(new TextEncoder().encode(`lab: ${line}\n`))
  );
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--allow-all", BUILD, "fleet-agent", "fleet-updater", "--format=compiled"],
      ...[`--arch=${Deno.build.arch}`, "--version", version, "--prelude", LAB_PRELUDE_PATH, "--out", directory],
    ],
    env: buildEnvironment(toolchain),
    stdin: "null",
  }).output();
  assertEquals([code, new TextDecoder().decode(stderr)], [0, ""]);
}

async function install({ device }: Story, args: string): Promise<string> {
  const run = await device.exec(["sh", "-c", `sh ${SHARE}/${args}`]);
  assertEquals([run.code, run.stderr], [0, ""], run.stdout);
  return run.stdout;
}

async function untilReady({ fleet }: Story, version: string): Promise<void> {
  const bucket = await fleet.bus.bucket(BUCKETS.deviceInfo);
  await waitUntil(`agent ${version} to be ready`, async () => {
    const text = new TextDecoder().decode((await bucket.get(deviceKey(DEVICE_ID)))?.value);
    return text.includes('"step":"ready"') && text.includes(`"agentVersion":"${version}"`);
  }, 90_000);
}

async function residentMib({ device }: Story, unit: string): Promise<number> {
  const pid = await device.property(unit, "MainPID");
  return Math.round(Number(await device.sh(`awk '/^VmRSS/ { print $2 }' /proc/${pid}/status`)) / 1024);
}

async function setUp(story: Story): Promise<void> {
  const { fleet, device, figures } = story;
  const startMs = performance.now();
  const said = await install(
    story,
    `1.0.0/install.sh --device-id ${DEVICE_ID} --nats-server ${fleet.server.url} --nats-user ${DEVICE_ID} ` +
      `--nats-password-file ${SHARE}/password --artifact-ca-file ${SHARE}/ca.pem`,
  );
  figures["setupMs"] = Math.round(performance.now() - startMs);
  assertStringIncludes(said, "Form compiled");
  assertStringIncludes(said, "+ fleet-agent 1.0.0 is READY");
  await untilReady(story, "1.0.0");
  figures["agentRssMib"] = await residentMib(story, AGENT);
  figures["updaterRssMib"] = await residentMib(story, UPDATER);
  const owners = await device.sh(
    "stat -c '%U:%G %a %n' /etc/harmony-fleet /etc/harmony-fleet/* /var/lib/harmony-fleet/*",
  );
  assertEquals(owners.split("\n"), [
    "root:fleet-agent 750 /etc/harmony-fleet",
    "root:fleet-agent 640 /etc/harmony-fleet/agent.json",
    "root:fleet-agent 640 /etc/harmony-fleet/artifact-ca.pem",
    "root:fleet-agent 640 /etc/harmony-fleet/nats-password",
    "root:fleet-agent 640 /etc/harmony-fleet/updater.json",
    "fleet-agent:fleet-agent 700 /var/lib/harmony-fleet/agent",
    "fleet-agent:fleet-agent 700 /var/lib/harmony-fleet/home",
    "root:root 700 /var/lib/harmony-fleet/updater",
  ]);
}

async function upgradeUpdater(story: Story): Promise<void> {
  const { device } = story;
  const agentPid = await device.property(AGENT, "MainPID");
  assertStringIncludes(await install(story, "1.0.0/install.sh"), "Nothing to change");
  assertStringIncludes(await install(story, "1.1.0/install.sh"), "+ fleet-updater 1.1.0 runs");
  assertMatch(await device.sh("fleet-updater status"), /^updater +1\.1\.0 /);
  assertEquals(await device.property(AGENT, "MainPID"), agentPid, "the agent goes on while the updater is replaced");
}

async function upgradeAgent({ device, fleet, share }: Story): Promise<void> {
  const bytes = await Deno.readFile(`${share}/1.1.0/bin/${Deno.build.arch}/fleet-agent`);
  const url = fleet.host.answer("/fleet-agent-1.1.0", { kind: "file", bytes });
  const manifest = JSON.parse(await Deno.readTextFile(`${share}/1.1.0/release.json`));
  const { sha256 } = manifest.artifacts.find((artifact: { program: string }) => artifact.program === "fleet-agent");
  const attempt = fleet.attempt(DEVICE_ID, "1.1.0", { url, sha256, sizeBytes: bytes.length });
  await fleet.send(attempt);
  const end = await fleet.waitForStatus(
    DEVICE_ID,
    "the end of the upgrade",
    ({ attemptId, phase }) => attemptId === attempt.attemptId && /^(?:complete|failed|rollback-failed)$/.test(phase),
    120_000,
  );
  assertEquals([end.phase, end.error], ["complete", undefined]);
  assertEquals(await device.sh("readlink /usr/local/bin/fleet-agent"), "/usr/lib/harmony-fleet/fleet-agent-v1.1.0");
  assertMatch(await device.sh("fleet-agent --version"), /^fleet-agent 1\.1\.0 \(.*compiled\)$/);
}

async function rebootAndRemove(story: Story): Promise<void> {
  const { device } = story;
  await device.shutDown("reboot");
  await device.boot();
  await waitUntil(
    "the agent after the reboot",
    async () => await device.property(AGENT, "ActiveState") === "active",
    90_000,
  );
  assertMatch(await install(story, "1.1.0/install.sh"), /Nothing to change\n.*fleet-agent runs/s);
  await install(story, "1.1.0/install.sh --uninstall --purge");
  const left = await device.sh(
    "systemctl list-unit-files 'fleet-*' --no-legend || :; systemctl list-units --all 'fleet-*' --no-legend || :; " +
      "getent passwd fleet-agent || :; getent group fleet-agent || :; " +
      "ls -d /usr/lib/harmony-fleet /var/lib/harmony-fleet /etc/harmony-fleet /usr/local/*bin/fleet-* 2>/dev/null || :",
  );
  assertEquals(left, "");
}

async function run(system: LabSystem): Promise<void> {
  const startMs = performance.now();
  const figures: Record<string, number> = {};
  let result: "passed" | "failed" = "failed";
  try {
    await using fleet = await Fleet.start({ deviceIds: [], foreignDeviceIds: [DEVICE_ID] });
    const share = `${fleet.directory}/share`;
    await Deno.mkdir(share);
    await Deno.copyFile(fleet.artifactCaFile, `${share}/ca.pem`);
    await Deno.writeTextFile(`${share}/password`, fleet.passwords.get(DEVICE_ID) ?? "");
    for (const version of ["1.0.0", "1.1.0"]) await buildCompiled(`${share}/${version}`, version);
    await using device = await LabDevice.create({ system, binds: { [SHARE]: share } });
    await device.boot();
    // A boot clears /tmp, also under the feet of an installer.
    await device.exec(["systemctl", "is-system-running", "--wait"]);
    const story = { fleet, device, share, figures };
    await setUp(story);
    await upgradeUpdater(story);
    await upgradeAgent(story);
    await rebootAndRemove(story);
    result = "passed";
  } finally {
    const seconds = Math.round((performance.now() - startMs) / 100) / 10;
    await reportResult({ scenario: "compiled-device-setup", system, result, seconds, figures });
  }
}

for (const system of LAB_SYSTEMS) {
  const problem = labProblem(system);
  const name =
    `compiled-device-setup on ${system}: install.sh sets up, upgrades the updater, survives a reboot, removes`;
  if (problem === undefined) Deno.test(name, () => run(system));
  else Deno.test({ name: `${name} (skipped: ${problem})`, ignore: true, fn: () => {} });
}
