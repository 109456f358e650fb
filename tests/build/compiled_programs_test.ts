/**
 * Real compiled programs, built with base runtimes from package registries: both architectures, the foreign one by
 * emulation, and a device that goes from the compiled form to the script form and back. Skipped where the registries are
 * out of reach.
 *
 * @module
 */
import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import { join } from "node:path";
import type { ReleaseArtifact } from "../../build/release_folder.ts";
import { buildScript } from "../../build/script_form.ts";
import { BUCKETS, deviceKey } from "../../contracts/buckets.ts";
import { errorText } from "../../contracts/errors.ts";
import { ARTIFACT_MAX_BYTES } from "../../contracts/limits.ts";
import { FAST_AGENT, FAST_UPDATER, Fleet } from "../fleet/fleet.ts";
import { FleetDevice } from "../fleet/fleet_device.ts";
import { buildEnvironment, LAB_PRELUDE_PATH, labToolchain } from "../lab/lab_toolchain.ts";
import { waitUntil } from "../nats/wait_until.ts";

const BUILD = new URL("../../build/main.ts", import.meta.url).pathname;
const DEVICE_ID = "device-1";

async function environment(): Promise<Record<string, string> | string> {
  if (Deno.env.get("DEV_NO_NETWORK") === "1") return "DEV_NO_NETWORK is set";
  try {
    return buildEnvironment(await labToolchain(() => {}));
  } catch (error) {
    return errorText(error).split("\n")[0] ?? "";
  }
}

const ENVIRONMENT = await environment();
const ignore = typeof ENVIRONMENT === "string";
const skipped = ignore ? ` (skipped: ${ENVIRONMENT})` : "";

async function build(outDir: string, version: string, ...args: string[]): Promise<ReleaseArtifact[]> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--allow-all", BUILD, "--format=compiled", "--version", version],
      ...["--prelude", LAB_PRELUDE_PATH, "--out", outDir, ...args],
    ],
    env: ENVIRONMENT as Record<string, string>,
    stdin: "null",
  }).output();
  assertEquals([code, new TextDecoder().decode(stderr)], [0, ""]);
  return JSON.parse(await Deno.readTextFile(join(outDir, "release.json"))).artifacts;
}

Deno.test({
  name: `a compiled agent of either architecture is below the limit and says what it is${skipped}`,
  ignore,
  fn: async () => {
    const directory = await Deno.makeTempDir();
    try {
      const artifacts = await build(join(directory, "release"), "1.0.0", "fleet-agent");
      assertEquals(artifacts.map(({ architectures: [arch] }) => arch), ["x86_64", "aarch64"]);
      for (const { architectures: [arch], path, run, sizeBytes } of artifacts) {
        assertLess(sizeBytes, ARTIFACT_MAX_BYTES);
        assertEquals(run, arch === Deno.build.arch ? "native" : "emulated");
        assertMatch(path, new RegExp(`^bin/${arch}/`));
      }
      const again = await build(join(directory, "again"), "1.0.0", "fleet-agent", `--arch=${Deno.build.arch}`);
      const first = artifacts.find(({ run }) => run === "native");
      assertEquals(again.map(({ sha256 }) => sha256), [first?.sha256]);
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  },
});

Deno.test({
  name: `a device goes from compiled programs to the script form and back${skipped}`,
  ignore,
  fn: async () => {
    await using fleet = await Fleet.start({ deviceIds: [], foreignDeviceIds: [DEVICE_ID] });
    const releases = new Map<string, string>();
    for (const version of ["1.0.0", "1.2.0"]) {
      const release = `${fleet.directory}/release-${version}`;
      await build(release, version, "fleet-agent", "fleet-updater", `--arch=${Deno.build.arch}`);
      releases.set(version, `${release}/bin/${Deno.build.arch}`);
    }
    const script = await buildScript({
      program: "fleet-agent",
      version: "1.1.0",
      outPath: `${fleet.directory}/script`,
    });
    const device = await FleetDevice.create({
      id: DEVICE_ID,
      root: `${fleet.directory}/d`,
      servers: [fleet.server.url],
      password: fleet.passwords.get(DEVICE_ID) ?? "",
      agent: { version: "1.0.0", path: `${releases.get("1.0.0")}/fleet-agent` },
      updater: [`${releases.get("1.0.0")}/fleet-updater`],
      artifactCaFile: fleet.artifactCaFile,
      agentBounds: FAST_AGENT,
      updaterBounds: FAST_UPDATER,
    });
    device.startUpdater();
    try {
      await untilRuns(fleet, "1.0.0", "compiled");
      await upgrade(fleet, "1.1.0", script.path);
      await untilRuns(fleet, "1.1.0", "script");
      await upgrade(fleet, "1.2.0", `${releases.get("1.2.0")}/fleet-agent`);
      await untilRuns(fleet, "1.2.0", "compiled");
      assertEquals(await device.selectedVersion(), "1.2.0");
    } finally {
      await device.stop();
    }
  },
});

async function untilRuns(fleet: Fleet, version: string, form: string): Promise<void> {
  const bucket = await fleet.bus.bucket(BUCKETS.deviceInfo);
  await waitUntil(`agent ${version} to be ready`, async () => {
    const text = new TextDecoder().decode((await bucket.get(deviceKey(DEVICE_ID)))?.value);
    return ['"step":"ready"', `"agentVersion":"${version}"`, `"form":"${form}"`].every((part) => text.includes(part));
  }, 60_000);
}

async function upgrade(fleet: Fleet, version: string, path: string): Promise<void> {
  const bytes = await Deno.readFile(path);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const sha256 = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const url = fleet.host.answer(`/fleet-agent-${version}`, { kind: "file", bytes });
  const attempt = fleet.attempt(DEVICE_ID, version, { url, sha256, sizeBytes: bytes.length });
  await fleet.send(attempt);
  const end = await fleet.waitForStatus(
    DEVICE_ID,
    `the end of the upgrade to ${version}`,
    ({ attemptId, phase }) => attemptId === attempt.attemptId && /^(?:complete|failed|rollback-failed)$/.test(phase),
    120_000,
  );
  assert(end.phase === "complete", `${end.reason}: ${end.error}`);
}
