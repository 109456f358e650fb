/** An updater that is killed: what the next one makes of the agent that lives on. */
import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { sendSignal } from "../../../updater/process/process_group.ts";
import { currentBootId, processInfo } from "../../../updater/process/process_table.ts";
import {
  aliveLines,
  createProcessRoot,
  isActive,
  openService,
  type ProcessRoot,
  programEnvironment,
} from "../../fakes/process_service_subject.ts";
import type { ServiceProgram } from "../../fakes/service_program.ts";
import { waitUntil } from "../../nats/wait_until.ts";

const READY: ServiceProgram = { does: "ready" };
const KEEPER = fileURLToPath(new URL("./service_keeper.ts", import.meta.url));

/** An updater in a process of its own, which starts the service and is then killed. */
async function leaveSurvivor(root: ProcessRoot, program: ServiceProgram): Promise<number> {
  await root.use(program);
  const keeper = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--cached-only", "--allow-all", "--unstable-net", KEEPER, root.root],
    env: programEnvironment(),
    stdin: "null",
    stdout: "null",
    stderr: "inherit",
  }).spawn();
  const pid = await waitUntil("the service runs", async () => {
    const [first] = await root.startedPids();
    const record = await Deno.readTextFile(root.paths.processRecord).catch(() => "");
    return first !== undefined && record.includes(`"ready":${program.does === "ready"}`) ? first : null;
  });
  keeper.kill("SIGKILL");
  await keeper.status;
  return pid;
}

Deno.test("a ready agent outlives its updater, goes on printing, and is adopted", async () => {
  await using root = await createProcessRoot();
  const pid = await leaveSurvivor(root, { ...READY, watchdogEveryMs: 10 });
  const printed = (await aliveLines(root)) + 20;
  await waitUntil("it has printed more", async () => await aliveLines(root) >= printed);
  assertEquals(processInfo(pid)?.ended, false);
  const service = await openService(root, { bounds: { restartDelayMs: 20 } });
  try {
    const state = await service.show();
    assertEquals([state.active, state.mainPid], ["active", pid]);
    assertEquals(state.invocationId?.length, 32);
    service.ensureRunning();
    assertEquals((await service.start()).kind, "ready");
    assertEquals(await root.startedPids(), [pid]);
    sendSignal(pid, "SIGKILL");
    await waitUntil(
      "it is started again",
      async () => (await root.startedPids()).length === 2 && await isActive(service),
    );
    assertEquals(await service.stop(), { kind: "stopped" });
    assertEquals(root.livingPids(), []);
  } finally {
    await service.close();
  }
});

Deno.test("an adopted agent can be stopped, with all that it started", async () => {
  await using root = await createProcessRoot();
  await leaveSurvivor(root, { ...READY, leavesChildren: true });
  await waitUntil("its children run", () => root.livingPids().length >= 3);
  const service = await openService(root, { bounds: { stopTimeoutMs: 300 } });
  try {
    assertEquals(await service.stop(), { kind: "stopped" });
    assertEquals(root.livingPids(), []);
  } finally {
    await service.close();
  }
});

Deno.test("an agent that was not ready when its updater died is stopped before the next one starts", async () => {
  await using root = await createProcessRoot();
  const pid = await leaveSurvivor(root, { does: "wait" });
  const service = await openService(root);
  try {
    assertEquals((await service.show()).active, "inactive");
    await root.use(READY);
    assertEquals((await service.start()).kind, "ready");
    assert(processInfo(pid)?.ended !== false, "the survivor still runs");
    assertEquals(root.livingPids().length, 1);
  } finally {
    await service.stop();
    await service.close();
  }
});

Deno.test("an agent that no record knows is stopped, by a start and by a stop alike", async () => {
  for (const action of ["start", "stop"] as const) {
    await using root = await createProcessRoot();
    const pid = await leaveSurvivor(root, READY);
    await Deno.writeTextFile(root.paths.processRecord, "not a record");
    const logged: string[] = [];
    const service = await openService(root, { logged });
    try {
      assert(logged.some((line) => line.includes("process record not usable")));
      assertEquals((await service[action]()).kind, action === "start" ? "ready" : "stopped");
      assert(processInfo(pid)?.ended !== false, "the survivor still runs");
      assertEquals(root.livingPids().length, action === "start" ? 1 : 0);
    } finally {
      await service.stop();
      await service.close();
    }
  }
});

Deno.test("a process that only has the pid of the record is left alone", async () => {
  const stranger = new Deno.Command("sleep", { args: ["600"] }).spawn();
  try {
    const { startTicks = 0 } = processInfo(stranger.pid) ?? {};
    const good = { schema: 1, bootId: currentBootId(), pid: stranger.pid, startTicks, invocationId: "x", ready: true };
    const records = [{ ...good, startTicks: startTicks - 1 }, { ...good, bootId: "another boot" }];
    for (const record of records) {
      await using root = await createProcessRoot();
      await Deno.writeTextFile(root.paths.processRecord, JSON.stringify(record));
      const service = await openService(root);
      assertEquals((await service.show()).active, "inactive");
      assertEquals(await service.stop(), { kind: "stopped" });
      await service.close();
    }
    assertEquals(processInfo(stranger.pid)?.ended, false);
  } finally {
    stranger.kill("SIGKILL");
    await stranger.status;
  }
});
