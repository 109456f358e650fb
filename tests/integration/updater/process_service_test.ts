/** What only the process adapter has: record, environment, notify socket, watchdog, its own end. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FleetError } from "../../../contracts/errors.ts";
import type { FileSystem } from "../../../lib/durable/file_system.ts";
import { OsFileSystem } from "../../../lib/durable/os_file_system.ts";
import { encodeNotification } from "../../../lib/systemd/notification.ts";
import { openDatagram } from "../../../lib/systemd/notify_address.ts";
import { sendSignal } from "../../../updater/process/process_group.ts";
import { currentBootId, processInfo } from "../../../updater/process/process_table.ts";
import type { ProcessService } from "../../../updater/services/process_service.ts";
import {
  aliveLines,
  createProcessRoot,
  isActive,
  openService,
  type OpenServiceOptions,
  type ProcessRoot,
} from "../../fakes/process_service_subject.ts";
import type { ServiceProgram } from "../../fakes/service_program.ts";
import { waitUntil } from "../../nats/wait_until.ts";

const READY: ServiceProgram = { does: "ready" };

async function withService(
  options: OpenServiceOptions,
  test: (service: ProcessService, root: ProcessRoot) => Promise<void>,
): Promise<void> {
  await using root = await createProcessRoot();
  const service = await openService(root, { ...options, bounds: { restartDelayMs: 20, ...options.bounds } });
  try {
    await test(service, root);
  } finally {
    await service.stop();
    await service.close();
  }
}

Deno.test("the record follows the process, and is gone after a stop", () =>
  withService({}, async (service, root) => {
    await root.use(READY);
    await service.start();
    const { mainPid, invocationId } = await service.show();
    const record = await waitUntil("the record says ready", async () => {
      const read = JSON.parse(await Deno.readTextFile(root.paths.processRecord).catch(() => "{}"));
      return read.ready === true ? read : null;
    });
    const { startTicks } = processInfo(mainPid ?? 0) ?? {};
    assertEquals(record, {
      schema: 1,
      bootId: currentBootId(),
      pid: mainPid,
      startTicks,
      invocationId,
      ready: true,
    });
    await service.stop();
    await waitUntil("the record is gone", () => Deno.stat(root.paths.processRecord).then(() => false, () => true));
  }));

class FullDisk extends OsFileSystem {
  override create(): ReturnType<FileSystem["create"]> {
    return Promise.reject(new FleetError("no space", { code: "E_FS_ENOSPC", failureClass: "environment" }));
  }
}

Deno.test("an agent is started although its record and its output cannot be written", () => {
  const logged: string[] = [];
  return withService({ fs: new FullDisk(), logged }, async (service, root) => {
    await Deno.mkdir(`${root.paths.agentOutput}.previous/x`, { recursive: true });
    await Deno.mkdir(`${root.paths.agentOutput}/x`, { recursive: true });
    await root.use({ ...READY, output: ["hello"] });
    assertEquals((await service.start()).kind, "ready");
    await waitUntil("the record's failure is logged", () => logged.some((line) => line.includes("record not written")));
    await root.use({ does: "exit", exitCode: 3, output: ["hello"] });
    await service.stop();
    const failed = await service.start();
    assertEquals(failed.kind === "failed" && [failed.exitCode, failed.lastLines.length], [3, 0]);
  });
});

Deno.test("children that ignore everything and left the group are gone after a stop, and after a crash", () =>
  withService({ bounds: { stopTimeoutMs: 300 } }, async (service, root) => {
    await root.use({ ...READY, leavesChildren: true });
    await service.start();
    await waitUntil("the children run", () => root.livingPids().length >= 3);
    const before = root.livingPids();
    await root.use(READY);
    sendSignal((await service.show()).mainPid ?? 0, "SIGKILL");
    await waitUntil("it runs again", async () => (await root.startedPids()).length === 2 && await isActive(service));
    for (const pid of before) assert(processInfo(pid)?.ended !== false, `${pid} still runs`);
    await service.stop();
    await root.use({ ...READY, leavesChildren: true });
    await service.start();
    await waitUntil("the children run", () => root.livingPids().length >= 3);
    assertEquals(await service.stop(), { kind: "stopped" });
    assertEquals(root.livingPids(), []);
    assertEquals((await service.show()).active, "failed");
  }));

Deno.test("READY counts from the main process only", () =>
  withService({ bounds: { startTimeoutMs: 2_000 } }, async (service, root) => {
    await root.use({ ...READY, wrongMainPid: true });
    const outcome = await service.start();
    assertEquals(outcome.kind === "failed" && outcome.result, "timeout");
  }));

Deno.test("what strangers and oversized datagrams say is ignored", () =>
  withService({}, async (service, root) => {
    await root.use({ does: "wait" });
    const starting = service.start();
    await waitUntil("it runs", async () => (await root.startedPids()).length === 1);
    const socket = openDatagram();
    const say = (bytes: Uint8Array) => socket.send(bytes, { transport: "unixpacket", path: root.paths.notifySocket });
    try {
      const { mainPid } = await service.show();
      await say(encodeNotification({ ready: true }));
      await say(encodeNotification({ ready: true, mainPid: Deno.pid, status: "a stranger" }));
      await say(new TextEncoder().encode(`MAINPID=${mainPid}\nREADY=1\n${"x".repeat(5_000)}`));
      await say(encodeNotification({ status: "heard", ...(mainPid === undefined ? {} : { mainPid }) }));
      await waitUntil("the status is heard", async () => (await service.show()).statusText === "heard");
      assertEquals((await service.show()).active, "activating");
      await say(encodeNotification({ ready: true, ...(mainPid === undefined ? {} : { mainPid }) }));
      assertEquals((await starting).kind, "ready");
    } finally {
      socket.close();
    }
  }));

Deno.test("the agent has an environment of its own and its configuration", async () => {
  Deno.env.set("FLEET_TEST_SECRET", "s3cret");
  try {
    await withService({}, async (service, root) => {
      await root.use(READY);
      await service.start();
      const { mainPid } = await service.show();
      const variables = (await Deno.readTextFile(`/proc/${mainPid}/environ`)).split("\0");
      assert(variables.includes(`NOTIFY_SOCKET=${root.paths.notifySocket}`));
      assert(!variables.some((variable) => variable.startsWith("FLEET_TEST_SECRET")));
      assert(variables.some((variable) => /^INVOCATION_ID=[0-9a-f]{32}$/.test(variable)));
      const args = (await Deno.readTextFile(`/proc/${mainPid}/cmdline`)).split("\0");
      assertEquals(args.slice(-3), ["--config", root.paths.agentConfig, ""]);
    });
  } finally {
    Deno.env.delete("FLEET_TEST_SECRET");
  }
});

Deno.test({
  name: "as root, the agent runs as its user without groups and without a way to new privileges, and can notify",
  ignore: Deno.uid() !== 0,
  fn: async () => {
    await using root = await createProcessRoot();
    await Deno.chmod(root.root, 0o755);
    await root.use(READY);
    // Where the program notes its starts.
    await Deno.chmod(root.paths.agentConfig.slice(0, root.paths.agentConfig.lastIndexOf("/")), 0o777);
    const service = await openService(root, { user: { uid: 65_534, gid: 65_534 } });
    try {
      assertEquals((await service.start()).kind, "ready");
      const { mainPid } = await service.show();
      const status = await Deno.readTextFile(`/proc/${mainPid}/status`);
      const values = (name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, "m").exec(status)?.[1]?.trim().split(/\s+/);
      assertEquals(values("Uid"), ["65534", "65534", "65534", "65534"]);
      assertEquals(values("Gid"), ["65534", "65534", "65534", "65534"]);
      assertEquals(values("NoNewPrivs"), ["1"]);
      assert(["", "65534"].includes(values("Groups")?.join() ?? "none"));
      assertEquals(((await Deno.stat(root.paths.notifySocket)).mode ?? 0) & 0o777, 0o660);
      assertEquals(await service.stop(), { kind: "stopped" });
    } finally {
      await service.stop();
      await service.close();
    }
  },
});

Deno.test("a link that leads nowhere fails the start as a program that cannot be executed", () =>
  withService({}, async (service, root) => {
    await Deno.remove(root.paths.agentLink);
    const outcome = await service.start();
    assert(outcome.kind === "failed");
    assertEquals(outcome.result, "exit-code");
    assert(outcome.exitCode === 127 || outcome.exitCode === 203, `${outcome.exitCode}`);
    assertStringIncludes(outcome.lastLines.join(), "fleet-agent");
  }));

Deno.test("a start takes what the link selects at that moment", () =>
  withService({}, async (service, root) => {
    await root.use(READY);
    await service.start();
    await service.stop();
    const other = `${root.paths.binariesDirectory}/fleet-agent-v2.0.0`;
    await Deno.writeTextFile(other, "#!/bin/sh\necho the other >&2\nexit 9\n", { mode: 0o755 });
    await Deno.remove(root.paths.agentLink);
    await Deno.symlink(other, root.paths.agentLink);
    const outcome = await service.start();
    assertEquals(outcome.kind === "failed" && [outcome.exitCode, outcome.lastLines], [9, ["the other"]]);
  }));

Deno.test("a ready agent that falls silent is started again, one that speaks is not", () =>
  withService({ bounds: { watchdogMs: 1_000, stopTimeoutMs: 2_000 } }, async (service, root) => {
    await root.use({ ...READY, watchdogEveryMs: 50 });
    await service.start();
    const { mainPid } = await service.show();
    const variables = await Deno.readTextFile(`/proc/${mainPid}/environ`);
    assertStringIncludes(variables, "WATCHDOG_USEC=1000000\0");
    await waitUntil("it has spoken for twice the bound", async () => await aliveLines(root) >= 40);
    assertEquals((await root.startedPids()).length, 1);
    await service.stop();
    await root.use(READY);
    await service.start();
    await waitUntil("it is started again", async () => (await service.show()).restarts >= 1);
  }));

Deno.test("an enabled service is started once, and in the background", () =>
  withService({}, async (service, root) => {
    await root.use(READY);
    service.ensureRunning();
    service.ensureRunning();
    await waitUntil("it is active", () => isActive(service));
    service.ensureRunning();
    assertEquals((await root.startedPids()).length, 1);
  }));

Deno.test("closing ends what is under way without a verdict, and leaves the agent alone", async () => {
  await using root = await createProcessRoot();
  await root.use({ does: "wait" });
  const service = await openService(root);
  const starting = service.start();
  const pid = await waitUntil("it runs", async () => (await root.startedPids())[0]);
  await service.close();
  const outcome = await starting;
  assertEquals(outcome.kind === "no-verdict" && outcome.why, "stopping");
  assertEquals([(await service.start()).kind, (await service.stop()).kind], ["no-verdict", "no-verdict"]);
  service.ensureRunning();
  assertEquals(processInfo(pid)?.ended, false);
  assertEquals(await root.startedPids(), [pid]);
  sendSignal(pid, "SIGKILL");
  await waitUntil("it is reaped, which ends what waits for it", () => processInfo(pid) === null);
});

Deno.test("closing during a stop does not wait for a stubborn agent", async () => {
  await using root = await createProcessRoot();
  await root.use({ ...READY, ignoresTerm: true });
  const service = await openService(root);
  await service.start();
  const stopping = service.stop();
  await service.close();
  assertEquals((await stopping).kind, "no-verdict");
  const [pid = 0] = await root.startedPids();
  assertEquals(processInfo(pid)?.ended, false);
  sendSignal(pid, "SIGKILL");
  await waitUntil("it is reaped, which ends what waits for it", () => processInfo(pid) === null);
});
