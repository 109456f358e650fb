import { assert, assertEquals } from "@std/assert";
import { BUCKETS } from "../../../contracts/buckets.ts";
import {
  ago,
  MemoryFleet,
  sampleDeviceStatus,
  sampleHeartbeat,
  sampleReleaseStatus,
} from "../../../tests/fakes/memory_fleet.ts";
import { MemoryTerminal } from "../../../tests/fakes/memory_terminal.ts";
import { assertGolden } from "../../../tests/golden/golden.ts";
import { describeCommand } from "./describe_command.ts";

const ATTEMPT = "00000000-0000-4000-8000-0000000000a1";

async function describe(
  fleet: MemoryFleet,
  kind: "Device" | "AgentRelease",
  names: string[],
  output: "table" | "json" = "table",
) {
  const terminal = new MemoryTerminal();
  const code = await describeCommand({ command: "describe", kind, names, output }, { fleet: fleet.access, terminal });
  return { code, out: terminal.stdout, err: terminal.stderr };
}

/** A device whose candidate was rolled back, with everything that it can report. */
async function rolledBack(): Promise<MemoryFleet> {
  const fleet = await MemoryFleet.open();
  await fleet.device(
    "device-2",
    ["edge"],
    sampleDeviceStatus({
      desiredRelease: "agent-1-1",
      desiredReason: "RolledBack",
      failedIdentities: ["f".repeat(64)],
      upgrade: {
        attemptId: ATTEMPT,
        releaseName: "agent-1-1",
        targetVersion: "1.1.0",
        phase: "failed",
        reason: "ExitedBeforeReady",
        failureClass: "version",
        error: "the candidate exited with code 1 before it was ready",
        startedAt: ago(600_000),
        updatedAt: ago(300_000),
      },
    }),
    { site: "lab" },
  );
  await fleet.report(
    BUCKETS.deviceHeartbeat,
    "device-2",
    sampleHeartbeat("device-2", {
      vitals: {
        freeBytes: { "/usr": 3_328_599_654, "/var": 12_884_901_888 },
        clockSkewMs: -120,
        restarts: 1,
        rssBytes: 61_865_984,
      },
    }),
    12_000,
  );
  await fleet.report(BUCKETS.upgradeStatus, "device-2", {
    schema: 1,
    attemptId: ATTEMPT,
    deviceId: "device-2",
    targetVersion: "1.1.0",
    phase: "failed",
    reason: "ExitedBeforeReady",
    failureClass: "version",
    detail: "the previous agent runs again",
    error: "the candidate exited with code 1 before it was ready",
    startedAt: ago(600_000),
    updatedAt: ago(300_000),
    drainMs: 830,
    journalUnit: "fleet-agent.service",
    transitions: [
      { phase: "preparing", at: ago(600_000) },
      { phase: "stopping", at: ago(596_800) },
      { phase: "starting", at: ago(595_900) },
      { phase: "rolling-back", at: ago(595_000), code: "ExitedBeforeReady" },
      { phase: "failed", at: ago(590_000), code: "ExitedBeforeReady" },
    ],
    postMortem: {
      stage: "start",
      result: "exit-code",
      exitCode: 1,
      statusText: "[config] reading /etc/harmony-fleet/agent.json",
      lastLines: ["starting fleet-agent 1.1.0", "\u001b[31mfatal\u001b[0m: no such option"],
      durationMs: 410,
    },
  }, 300_000);
  return fleet;
}

Deno.test("describe device tells the whole story of a rollback, and what to do next", async () => {
  const { code, out, err } = await describe(await rolledBack(), "Device", ["device-2"]);
  assertEquals([code, err], [0, ""]);
  await assertGolden("fleetctl/describe_device_rolled_back.txt", out);
});

Deno.test("describe device gives the same to programs, with the documents as they came", async () => {
  const { out } = await describe(await rolledBack(), "Device", ["device-2"], "json");
  const data = JSON.parse(out);
  assertEquals(Object.keys(data), ["device", "heartbeat", "upgradeStatus", "upgradeIntent", "deployments", "advice"]);
  assertEquals([data.heartbeat.state, data.heartbeat.ageMs, data.heartbeat.value.sequence], ["present", 12_000, 431]);
  assertEquals(data.upgradeStatus.value.postMortem.exitCode, 1);
  assertEquals(data.upgradeIntent, { state: "absent" });
  assertEquals(data.advice[0].code, "RolledBack");
});

Deno.test("describe device shows what can be known when documents are missing or wrong", async () => {
  const fleet = await MemoryFleet.open();
  await fleet.device("new", []);
  const { out } = await describe(fleet, "Device", ["new"]);
  await assertGolden("fleetctl/describe_device_new.txt", out);
  await fleet.report(BUCKETS.deviceHeartbeat, "new", { schema: 1 }, 5_000);
  fleet.lose(BUCKETS.upgradeStatus);
  const broken = await describe(fleet, "Device", ["new"]);
  assertEquals(broken.code, 0);
  assert(broken.out.includes("Heartbeat:     5s ago, not readable: deviceId: is missing"), broken.out);
  assert(/Status: +cannot be read: .*no such bucket/.test(broken.out), broken.out);
  const json = JSON.parse((await describe(fleet, "Device", ["new"], "json")).out);
  assertEquals([json.heartbeat.state, json.upgradeStatus.state], ["unreadable", "unavailable"]);
});

Deno.test("describe device shows an attempt that waits for it", async () => {
  const fleet = await MemoryFleet.open();
  await fleet.device("d1", ["edge"], sampleDeviceStatus({ desiredRelease: "r", desiredReason: "Pending" }));
  await fleet.report(BUCKETS.upgradeIntent, "d1", {
    schema: 1,
    attemptId: ATTEMPT,
    deviceId: "d1",
    targetVersion: "1.1.0",
    arch: "x86_64",
    artifact: { url: "https://a.example/b", maxBytes: 1, sha256: "a".repeat(64) },
  }, 180_000);
  const { out } = await describe(fleet, "Device", ["d1"]);
  assert(out.includes(`Waiting:     attempt ${ATTEMPT} for 1.1.0, written 3m ago`), out);
  assert(out.includes("Pending: An attempt waits for it since 3m, and it has not taken it"), out);
});

Deno.test("describe release shows the spec, every count and what to do next", async () => {
  const fleet = await MemoryFleet.open();
  await fleet.release(
    "agent-1-1",
    { targetSelector: { matchLabels: { site: "lab" } } },
    sampleReleaseStatus({
      targets: 40,
      current: 31,
      upgrading: 2,
      failed: 1,
      rolledBack: 3,
      quarantined: 1,
      lost: 1,
      ineligible: 1,
      lastError: "device-2: the candidate exited with code 1 before it was ready",
      conditions: [{
        type: "Ready",
        status: "False",
        reason: "NotAllCurrent",
        message: "31 of 40 targets run 1.1.0",
        lastTransitionTime: ago(600_000),
        observedGeneration: 1,
      }],
      observedGeneration: 1,
    }),
  );
  const { out } = await describe(fleet, "AgentRelease", ["agent-1-1"]);
  await assertGolden("fleetctl/describe_release.txt", out);
  const data = JSON.parse((await describe(fleet, "AgentRelease", ["agent-1-1"], "json")).out);
  assertEquals(Object.keys(data), ["release", "state", "advice"]);
  assertEquals(data.advice.map(({ code }: { code: string }) => code), [
    "Quarantined",
    "Lost",
    "RolledBack",
    "Failed",
    "Ineligible",
  ]);
});

Deno.test("describe tells several one after the other, and which do not exist", async () => {
  const fleet = await rolledBack();
  const { code, out, err } = await describe(fleet, "Device", ["device-2", "device-3"]);
  assertEquals(code, 3);
  assert(out.startsWith("Name:          device-2\n"));
  assert(err.includes('there is no device "device-3"; did you mean device-2?'));
  const none = await describe(fleet, "Device", ["x"], "json");
  assertEquals([none.code, none.out], [3, ""]);
});
