import { assert, assertEquals } from "@std/assert";
import { SOCKET_MESSAGE_MAX_BYTES } from "../../contracts/limits.ts";
import { type UpdaterResponse, updaterResponse } from "../../contracts/updater_protocol.ts";
import { silentLogger } from "../../lib/log.ts";
import { exchange } from "../../lib/unix/exchange.ts";
import { AdmissionLock } from "../../updater/admission_lock.ts";
import { isActive } from "../../updater/core/record.ts";
import { Interpreter } from "../../updater/interpreter.ts";
import { JournalStore } from "../../updater/journal_store.ts";
import { serveUpdaterSocket } from "../../updater/socket/server.ts";
import { openSystemUpgrades } from "../../updater/system_upgrade/open_system_upgrades.ts";
import type { StepResult } from "../../updater/system_upgrade/ports.ts";
import { UpgradeService } from "../../updater/upgrade_service.ts";
import { fastClock, fetcherOf, PATHS, proberOf, runningAgent, setUpDisk } from "../crash/simulated_device.ts";
import { SCENARIOS } from "../crash/scenarios.ts";
import { SimulatedService } from "../crash/simulated_service.ts";
import { FIRST_BOOT, runUid, sampleSystemAttempt } from "../fakes/ledger_samples.ts";
import { MemoryFileSystem } from "../fakes/memory_file_system.ts";
import { sampleAttempt } from "../fakes/upgrade_samples.ts";
import { waitUntil } from "../nats/wait_until.ts";

/** An updater behind its real socket, whose upgrade of the system waits until a test lets it go on. */
async function withUpdater(
  test: (
    ask: (request: Record<string, unknown>) => Promise<UpdaterResponse>,
    goOn: (result: StepResult) => void,
  ) => Promise<void>,
): Promise<void> {
  const [scenario] = SCENARIOS;
  assert(scenario !== undefined);
  const directory = await Deno.makeTempDir({ prefix: "fleet-updater-" });
  const disk = new MemoryFileSystem();
  await setUpDisk(disk, scenario);
  const { store, record } = await JournalStore.open(disk, PATHS);
  const services = new SimulatedService(disk, PATHS.agentLink, runningAgent(scenario), () => Promise.resolve());
  const clock = fastClock();
  const log = silentLogger;
  const onFatal = (error: unknown) => {
    throw error;
  };
  const common = { fs: disk, paths: PATHS, clock, log };
  const context = { ...common, fetcher: fetcherOf(scenario), prober: proberOf(scenario), services };
  const interpreter = new Interpreter({ record, store, context, onFatal });
  const lock = new AdmissionLock();
  const upgrading = Promise.withResolvers<StepResult>();
  const fine = () => Promise.resolve({ ok: true, value: undefined } as const);
  const plan = {
    upgraded: [{ name: "lab-app", from: "1", to: "2" }],
    installed: [],
    removed: [],
    kept: [],
    keptCount: 0,
  };
  const system = await openSystemUpgrades({
    ...common,
    deviceId: "device-1",
    lock,
    agentSide: () => ({ active: isActive(interpreter.record), quarantined: false }),
    stopping: () => false,
    onFatal,
    boot: FIRST_BOOT,
    context: {
      packages: {
        look: () => Promise.resolve({ ok: true, value: { readOnly: [], unfinished: [] } }),
        refresh: fine,
        simulate: () => Promise.resolve({ ok: true, value: { plan, downloadBytes: 7 } }),
        download: fine,
        configure: fine,
        upgrade: () => upgrading.promise,
        tidy: () => Promise.resolve(),
      },
      host: {
        spaces: () => Promise.resolve([]),
        isRebootDue: () => Promise.resolve(false),
        reboot: () => new Promise(() => {}),
      },
    },
  });
  const service = new UpgradeService({
    ...common,
    interpreter,
    journal: store,
    deviceId: "device-1",
    arch: "x86_64",
    schemes: ["https"],
    updaterVersion: "1.0.0",
    lock,
    systemUpgrades: system.upgrades,
  });
  const stop = new AbortController();
  const path = `${directory}/updater.sock`;
  const { finished } = serveUpdaterSocket({
    path,
    mode: 0o600,
    log,
    signal: stop.signal,
    handlers: {
      status: () => Promise.resolve(service.state()),
      upgrade: (attempt, document, signal) => service.upgrade(attempt, document, signal),
      systemUpgrade: (attempt, document) => service.systemUpgrade(attempt, document),
    },
  });
  try {
    const bounds = { timeoutMs: 10_000, maxBytes: SOCKET_MESSAGE_MAX_BYTES };
    await test(
      async (request) => updaterResponse(await exchange(path, { protocol: 1, ...request }, bounds), ""),
      upgrading.resolve,
    );
  } finally {
    stop.abort();
    await finished;
    await Deno.remove(directory, { recursive: true });
  }
}

function codeOf(response: UpdaterResponse): string {
  return response.ok ? "ok" : response.error.code;
}

Deno.test("over the socket: an attempt is answered once it is durable, shown in the status, and excludes an agent upgrade", () =>
  withUpdater(async (ask, goOn) => {
    const attempt = sampleSystemAttempt();
    const before = await ask({ request: "status" });
    assert(before.ok);
    assertEquals(before.state.capabilities, ["https", "AptFullUpgradeV1"]);
    assertEquals([before.state.busy, before.state.systemUpgrade], [false, undefined]);
    const accepted = await ask({ request: "system-upgrade", attempt });
    assert(accepted.ok);
    assertEquals(accepted.systemUpgrade?.attemptId, attempt.attemptId);
    const status = async () => {
      const answer = await ask({ request: "status" });
      return answer.ok ? answer.state : null;
    };
    await waitUntil("the upgrade", async () => (await status())?.systemUpgrade?.phase === "upgrading");
    assertEquals((await status())?.busy, true);
    assertEquals(codeOf(await ask({ request: "upgrade", attempt: sampleAttempt() })), "E_BUSY");
    const other = sampleSystemAttempt({ attemptId: runUid(1) });
    assertEquals(codeOf(await ask({ request: "system-upgrade", attempt: other })), "E_BUSY");
    const again = await ask({ request: "system-upgrade", attempt });
    assertEquals(again.ok && again.systemUpgrade?.phase, "upgrading");
    assertEquals(codeOf(await ask({ request: "system-upgrade", attempt: { ...attempt, note: 1 } })), "E_UUID_REUSED");
    goOn({ ok: false, finding: { reason: "UpgradeFailed", failureClass: "policy", error: "E: it broke" } });
    await waitUntil("the end", async () => (await status())?.systemUpgrade?.reason === "UpgradeFailed");
    assertEquals((await status())?.busy, false);
    const ended = await ask({ request: "system-upgrade", attempt });
    assertEquals(ended.ok && ended.systemUpgrade?.phase, "failed");
  }));

Deno.test("over the socket: what is no attempt is refused by its field", () =>
  withUpdater(async (ask) => {
    const attempt = sampleSystemAttempt();
    for (
      const [wrong, field] of [
        [{ ...attempt, schema: 2 }, "attempt.schema"],
        [{ ...attempt, runId: runUid(1) }, "attempt.attemptId"],
        [{ ...attempt, operation: "AptFullUpgradeV2" }, "attempt.operation"],
        [{ ...attempt, expiresAt: "tomorrow" }, "attempt.expiresAt"],
      ] as const
    ) {
      const answer = await ask({ request: "system-upgrade", attempt: wrong });
      assert(!answer.ok);
      assertEquals([answer.error.code, answer.error.field], ["E_REQUEST_INVALID", field]);
    }
  }));
