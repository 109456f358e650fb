import { assert, assertEquals, assertRejects } from "@std/assert";
import { BUCKETS, planChunkKey, runKey, systemUpgradeKey } from "../../../contracts/buckets.ts";
import { FleetError } from "../../../contracts/errors.ts";
import type { SystemUpgradePhase, SystemUpgradeStatus } from "../../../contracts/system_upgrade.ts";
import type { TaskRunSpec, TaskRunStatus } from "../../../contracts/task_run.ts";
import {
  ago,
  FLEET_NOW_MS,
  MemoryFleet,
  sampleDeviceStatus,
  sampleHeartbeat,
} from "../../../tests/fakes/memory_fleet.ts";
import { MemoryTerminal } from "../../../tests/fakes/memory_terminal.ts";
import { FIRST_HEARTBEAT, systemStatus } from "../../../tests/fakes/scripted_system.ts";
import { runSpec } from "../../../tests/fakes/task_samples.ts";
import { assertGolden } from "../../../tests/golden/golden.ts";
import { planDocuments } from "../../policy/task_plan_documents.ts";
import { parseCommandLine } from "../command_line.ts";
import { describeCommand } from "../commands/describe_command.ts";
import { getCommand } from "../commands/get_command.ts";
import { taskDevicesCommand } from "../commands/task_devices_command.ts";
import { taskRunCommand } from "../commands/task_run_command.ts";
import type { TaskPhaseName } from "../invocation.ts";
import { previewRun } from "./run_preview.ts";

const CAPABLE = ["https", "AptFullUpgradeV1"];
const SPEC = runSpec({ targetSelector: { matchLabels: { site: "lab" } }, deadlineSeconds: 21_600 });

/** Devices of every kind that a preview tells of. */
async function sampleFleet(): Promise<MemoryFleet> {
  const fleet = await MemoryFleet.open();
  const lab = { site: "lab" };
  const capable = (liveness: "Online" | "Stale" = "Online") => sampleDeviceStatus({ capabilities: CAPABLE, liveness });
  await fleet.device("device-1", ["edge"], capable(), { ...lab, canary: "true" });
  await fleet.device("device-2", ["edge"], capable(), lab);
  await fleet.device("device-3", ["edge"], capable("Stale"), lab);
  await fleet.device("device-4", ["edge"], sampleDeviceStatus(), lab);
  await fleet.device("device-5", ["core"], capable(), lab);
  await fleet.device("device-6", ["edge"], capable(), { site: "bern" });
  return fleet;
}

const STATUS: TaskRunStatus = {
  phase: "Failed",
  reason: "DeadlineExceeded",
  targets: 3,
  canaries: 1,
  released: 3,
  succeeded: 1,
  failed: 2,
  incapable: 1,
  startedAt: ago(7_200_000),
  expiresAt: ago(600_000),
  completedAt: ago(598_000),
  lastError: "device-2: DiskFull: /boot has 12 MiB free, 64 MiB are needed",
  conditions: [{
    type: "Complete",
    status: "False",
    reason: "DeadlineExceeded",
    message: "1 of 3 targets succeeded, 2 failed, 0 not released",
    lastTransitionTime: ago(598_000),
    observedGeneration: 1,
  }],
  observedGeneration: 1,
};

/** The same fleet, with a run that has ended: one device is done, one failed, and one was late. */
async function fleetAfterRun(): Promise<{ fleet: MemoryFleet; uid: string }> {
  const fleet = await sampleFleet();
  const created = await fleet.store.create("TaskRun", { name: "upgrade-lab", labels: {}, spec: SPEC });
  assert(created.ok);
  const { resourceVersion, uid } = created.resource.metadata;
  await fleet.store.replaceStatus("TaskRun", "upgrade-lab", STATUS, resourceVersion);
  const { chunks: [chunk], manifest } = planDocuments({
    runId: uid,
    nonce: "8e3f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d",
    targets: { canaries: ["device-1"], others: ["device-2", "device-3"], incapable: 1 },
    createdAtMs: FLEET_NOW_MS - 7_200_000,
    expiresAtMs: FLEET_NOW_MS - 600_000,
  });
  assert(chunk !== undefined);
  const plans = await fleet.bus.bucket(BUCKETS.taskPlan);
  await plans.put(planChunkKey(uid, manifest.nonce, 0), chunk.bytes);
  await plans.put(runKey(uid), new TextEncoder().encode(JSON.stringify(manifest)));
  const say = async (
    id: string,
    phase: SystemUpgradePhase,
    agoMs: number,
    changes: Partial<SystemUpgradeStatus> = {},
  ) => {
    const status = systemStatus({ attemptId: uid, runId: uid, deviceId: id }, phase, {
      updatedAt: ago(agoMs),
      ...changes,
    });
    await fleet.reportAt(BUCKETS.systemUpgradeStatus, systemUpgradeKey(id, uid), status, agoMs);
  };
  const names = (count: number) => ({ count, names: [] });
  await say("device-1", "succeeded", 3_600_000, {
    firstHeartbeat: FIRST_HEARTBEAT,
    summary: { upgraded: names(41), removed: names(0), kept: names(2), bootIdBefore: "a", bootIdAfter: "b" },
  });
  await say("device-2", "failed", 5_400_000, { reason: "DiskFull", error: "/boot has 12 MiB free, 64 MiB are needed" });
  await say("device-3", "upgrading", 900_000);
  await fleet.reportAt(BUCKETS.systemUpgradeIntent, systemUpgradeKey("device-3", uid), {}, 7_000_000);
  await fleet.report(BUCKETS.deviceHeartbeat, "device-1", sampleHeartbeat("device-1"), 12_000);
  return { fleet, uid };
}

async function run(fleet: MemoryFleet, changes: Record<string, unknown> = {}, answer: boolean | null = null) {
  const terminal = new MemoryTerminal();
  terminal.answer = answer;
  const invocation = {
    command: "task-run",
    name: "upgrade-lab",
    spec: SPEC as TaskRunSpec,
    dryRun: false,
    yes: false,
    output: "table",
    ...changes,
  } as Parameters<typeof taskRunCommand>[0];
  const code = await taskRunCommand(invocation, { fleet: fleet.access, terminal });
  return { code, terminal };
}

Deno.test("task run --dry-run: targets, canaries, who is away and who is left out, and what it would do", async () => {
  const fleet = await sampleFleet();
  const { terminal } = await run(fleet, { dryRun: true });
  await assertGolden("fleetctl/task_run_dry_run.txt", terminal.stdout);
  assertEquals(await fleet.store.list("TaskRun"), []);
  const json = await run(fleet, { dryRun: true, output: "json" });
  const { canaries, created, incapable, offline, targets, unauthorized } = JSON.parse(json.terminal.stdout);
  assertEquals({ canaries, created, incapable, offline, targets, unauthorized }, {
    canaries: 1,
    created: false,
    incapable: 1,
    offline: 1,
    targets: 3,
    unauthorized: 1,
  });
});

Deno.test("task run: no canaries are told loudly, and no targets too", async () => {
  const fleet = await sampleFleet();
  const without = await run(fleet, {
    dryRun: true,
    spec: runSpec({ targetSelector: { matchLabels: { site: "bern" } } }),
  });
  assert(without.terminal.stdout.includes("NO CANARIES: no target has the label canary=true"));
  const none = await run(fleet, { dryRun: true, spec: runSpec({ allowedGroups: ["nobody"] }) });
  assert(none.terminal.stdout.includes("targets 0 devices"));
  assert(none.terminal.stdout.includes("the run would fail with NoTargets"));
});

Deno.test("task run: asks before more than one device, takes --yes, and refuses where nobody can be asked", async () => {
  const fleet = await sampleFleet();
  assertEquals((await assertRejects(() => run(fleet, {}, false), FleetError)).code, "E_NOT_CONFIRMED");
  const alone = await assertRejects(() => run(fleet, {}, null), FleetError);
  assertEquals([alone.code, alone.message], ["E_USAGE", "Cannot ask whether to start a run on 3 devices: say --yes"]);
  assertEquals(await fleet.store.list("TaskRun"), []);
  const asked = await run(fleet, {}, true);
  assertEquals(asked.terminal.questions, ["Upgrade and reboot 3 devices?"]);
  assert(asked.terminal.stdout.endsWith("taskrun/upgrade-lab created\n"));
  assertEquals((await fleet.store.get("TaskRun", "upgrade-lab"))?.spec, SPEC);
  const yes = await run(fleet, { name: "second", yes: true });
  assertEquals([yes.code, yes.terminal.questions], [0, []]);
  const one = await run(fleet, { name: "third", spec: runSpec({ targetSelector: { matchLabels: { site: "bern" } } }) });
  assertEquals(one.terminal.questions, []);
  const taken = await assertRejects(() => run(fleet, { yes: true }), FleetError);
  assertEquals(taken.code, "E_CONFLICT");
  assert(taken.message.includes("a run never runs again"));
});

Deno.test("previewRun(): matchExpressions match nobody", async () => {
  const fleet = await sampleFleet();
  const spec = runSpec({ targetSelector: { matchExpressions: [] } });
  const { targets, unauthorized } = previewRun(spec, await fleet.store.list("Device"));
  assertEquals([targets, unauthorized], [0, 0]);
});

Deno.test("get and describe: a run with its counts, its error and what to do next", async () => {
  const { fleet } = await fleetAfterRun();
  const shown = new MemoryTerminal();
  const target = { kind: "TaskRun", names: [], selector: {}, output: "table" } as const;
  await getCommand({ command: "get", ...target }, { fleet: fleet.access, terminal: shown });
  await assertGolden("fleetctl/get_tasks.txt", shown.stdout);
  const described = new MemoryTerminal();
  const invocation = { command: "describe", kind: "TaskRun", names: ["upgrade-lab"], output: "table" } as const;
  await describeCommand(invocation, { fleet: fleet.access, terminal: described });
  await assertGolden("fleetctl/describe_task.txt", described.stdout);
});

async function devices(fleet: MemoryFleet, phase: TaskPhaseName, changes: Record<string, unknown> = {}) {
  const terminal = new MemoryTerminal();
  const invocation = { command: "task-devices", name: "upgrade-lab", phase, selector: {}, output: "name", ...changes };
  const code = await taskDevicesCommand(invocation as Parameters<typeof taskDevicesCommand>[0], {
    fleet: fleet.access,
    terminal,
  });
  return { code, out: terminal.stdout, err: terminal.stderr };
}

Deno.test("task devices: the list behind every count, and by reason", async () => {
  const { fleet } = await fleetAfterRun();
  await assertGolden("fleetctl/task_devices.txt", (await devices(fleet, "targets", { output: "table" })).out);
  const names = async (phase: TaskPhaseName, changes = {}) =>
    (await devices(fleet, phase, changes)).out.replaceAll("device/device-", "").trim().split("\n").join();
  assertEquals(await names("canaries"), "1");
  assertEquals(await names("released"), "1,2,3");
  assertEquals(await names("succeeded"), "1");
  // A run that ended for its deadline counts whom it waited for as failed.
  assertEquals(await names("failed"), "2,3");
  assertEquals(await names("failed", { reason: "DiskFull" }), "2");
  assertEquals(await names("running"), "3");
  assertEquals(await names("waiting"), "");
  assertEquals(await names("targets", { selector: { canary: "true" } }), "1");
  const { items } = JSON.parse((await devices(fleet, "running", { output: "json" })).out);
  assertEquals(items.map(({ device, hasIntent, state }: Record<string, unknown>) => [device, hasIntent, state]), [
    ["device-3", true, "running"],
  ]);
});

Deno.test("task devices: a run without a plan, and one that does not exist", async () => {
  const fleet = await sampleFleet();
  assertEquals((await devices(fleet, "targets")).code, 3);
  await fleet.store.create("TaskRun", { name: "upgrade-lab", labels: {}, spec: SPEC });
  const { code, err } = await devices(fleet, "targets");
  assert(code === 0 && err.includes("has no frozen plan"), err);
  fleet.lose(BUCKETS.taskPlan);
  assertEquals((await devices(fleet, "targets")).code, 1);
});

Deno.test("the command line of tasks: what it takes, and what it refuses", () => {
  const parse = (line: string) => parseCommandLine(line.split(" "), "", null);
  const ran = parse("task run up --group a --group b -l site=lab --deadline 90m --yes");
  assert(ran.kind === "run" && ran.invocation.command === "task-run");
  assertEquals([ran.invocation.spec, ran.invocation.yes], [{
    allowedGroups: ["a", "b"],
    targetSelector: { matchLabels: { site: "lab" } },
    deadlineSeconds: 5_400,
    systemUpgradeV1: {},
  }, true]);
  const plain = parse("task run up --group a");
  assert(plain.kind === "run" && plain.invocation.command === "task-run");
  assertEquals([plain.invocation.spec.deadlineSeconds, plain.invocation.spec.targetSelector], [21_600, {}]);
  for (const [line, name] of [["task get", "get"], ["task watch up", "watch"]] as const) {
    const { kind, ...rest } = parse(line);
    assert(kind === "run" && "invocation" in rest && rest.invocation.command === name);
  }
  const listed = parse("task devices up --phase failed --reason DiskFull");
  assert(listed.kind === "run" && listed.invocation.command === "task-devices");
  assertEquals([listed.invocation.phase, listed.invocation.reason], ["failed", "DiskFull"]);
  const wrong = [
    "task run up",
    "task run Up --group a",
    "task run up --group a --deadline 8d",
    "task run up --group a --deadline 59s",
    "task run up --group a --deadline soon",
    "task run up --group a --group a",
    "task devices up --reason no-reason",
    "task devices up --phase cancelled",
    "task cancel up",
  ];
  for (const line of wrong) assertEquals(parse(line).kind, "usage", line);
});
