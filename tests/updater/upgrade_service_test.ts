import { assert, assertEquals } from "@std/assert";
import type { AgentUpgradeAttempt } from "../../contracts/agent_upgrade.ts";
import { sha256Hex } from "../../contracts/digest.ts";
import { JOURNAL_HISTORY_MAX } from "../../contracts/limits.ts";
import { binaryPath } from "../../contracts/managed_paths.ts";
import type { UpdaterResponse } from "../../contracts/updater_protocol.ts";
import { replaceFile } from "../../lib/durable/replace_file.ts";
import { silentLogger } from "../../lib/log.ts";
import { Interpreter } from "../../updater/interpreter.ts";
import { JournalStore } from "../../updater/journal_store.ts";
import type { Fetcher } from "../../updater/ports.ts";
import { UpgradeService } from "../../updater/upgrade_service.ts";
import { fastClock, PATHS, proberOf, runningAgent, setUpDisk } from "../crash/simulated_device.ts";
import { SCENARIOS } from "../crash/scenarios.ts";
import { agentBinary, SimulatedService } from "../crash/simulated_service.ts";
import { MemoryFileSystem } from "../fakes/memory_file_system.ts";
import { waitUntil } from "../nats/wait_until.ts";
import { sampleAttempt } from "../fakes/upgrade_samples.ts";

const [GOOD] = SCENARIOS;
const NEVER = new AbortController().signal;
const BYTES = agentBinary("2.0.0");

function attemptWith(overrides: Partial<AgentUpgradeAttempt> = {}): AgentUpgradeAttempt {
  return sampleAttempt({
    artifact: { url: "https://artifacts.example/2", maxBytes: BYTES.byteLength, sha256: sha256Hex(BYTES) },
    ...overrides,
  });
}

function uuidOf(index: number): string {
  return `0b9c3d1e-6f5a-4b7c-8d9e-${index.toString(16).padStart(12, "0")}`;
}

interface Updater {
  readonly service: UpgradeService;
  readonly disk: MemoryFileSystem;
  readonly interpreter: Interpreter;
  readonly store: JournalStore;
  /** Fetches so far. */
  readonly fetches: () => number;
  /** Lets the fetch that waits go on. */
  readonly release: () => void;
}

/** An updater on a simulated disk; with `held`, a fetch waits until the test lets it go on. */
async function openUpdater(held = false): Promise<Updater> {
  assert(GOOD !== undefined);
  const disk = new MemoryFileSystem();
  await setUpDisk(disk, GOOD);
  const services = new SimulatedService(disk, PATHS.agentLink, runningAgent(GOOD), () => Promise.resolve());
  const gate = Promise.withResolvers<void>();
  let fetches = 0;
  const fetcher: Fetcher = {
    schemes: ["https"],
    async *fetch() {
      fetches++;
      if (held) await gate.promise;
      yield BYTES;
    },
  };
  const { store, record } = await JournalStore.open(disk, PATHS);
  const context = {
    fs: disk,
    paths: PATHS,
    fetcher,
    prober: proberOf(GOOD),
    services,
    clock: fastClock(),
    log: silentLogger,
  };
  const onFatal = (error: unknown) => {
    throw error;
  };
  const interpreter = new Interpreter({ record, store, context, onFatal });
  const service = new UpgradeService({
    interpreter,
    journal: store,
    fs: disk,
    paths: PATHS,
    log: silentLogger,
    deviceId: "device-1",
    arch: "x86_64",
    schemes: ["https"],
    updaterVersion: "1.0.0",
    journalUnit: services.unit,
  });
  return { service, disk, interpreter, store, fetches: () => fetches, release: gate.resolve };
}

function summary(response: UpdaterResponse): string {
  return response.ok ? response.outcome?.phase ?? "no outcome" : response.error.code;
}

Deno.test("upgrade() runs an attempt once, whatever is repeated, before and after a restart", async () => {
  const updater = await openUpdater();
  const attempt = attemptWith();
  assertEquals(summary(await updater.service.upgrade(attempt, attempt, NEVER)), "complete");
  for (let repeat = 0; repeat < 3; repeat++) {
    assertEquals(summary(await updater.service.upgrade(attempt, attempt, NEVER)), "complete");
  }
  assertEquals(updater.fetches(), 1);
  const other = { ...attempt, targetVersion: "2.0.1" };
  assertEquals(summary(await updater.service.upgrade(other, other, NEVER)), "E_UUID_REUSED");
  // A member that this updater does not know makes it another document all the same.
  assertEquals(summary(await updater.service.upgrade(attempt, { ...attempt, note: 1 }, NEVER)), "E_UUID_REUSED");
  const { record } = await JournalStore.open(updater.disk, PATHS);
  assertEquals(record, updater.interpreter.record);
});

Deno.test("upgrade() answers every client of one attempt, refuses another as busy, and one with the UUID reused", async () => {
  const updater = await openUpdater(true);
  const attempt = attemptWith();
  const clients = [attempt, attempt, attempt].map((one) => updater.service.upgrade(one, one, NEVER));
  const second = attemptWith({ attemptId: uuidOf(1) });
  assertEquals(summary(await updater.service.upgrade(second, second, NEVER)), "E_BUSY");
  const reused = { ...attempt, targetVersion: "2.0.1" };
  assertEquals(summary(await updater.service.upgrade(reused, reused, NEVER)), "E_UUID_REUSED");
  assertEquals(updater.service.state().busy, true);
  updater.release();
  assertEquals((await Promise.all(clients)).map(summary), ["complete", "complete", "complete"]);
  assertEquals(updater.fetches(), 1);
});

Deno.test("upgrade() goes on when its client goes away", async () => {
  const updater = await openUpdater(true);
  const attempt = attemptWith();
  const leaving = new AbortController();
  const left = updater.service.upgrade(attempt, attempt, leaving.signal);
  await waitUntil("the fetch", () => updater.fetches() === 1);
  leaving.abort();
  assertEquals(summary(await left), "E_STOPPING");
  updater.release();
  await updater.interpreter.idle(NEVER);
  assertEquals(summary(await updater.service.upgrade(attempt, attempt, NEVER)), "complete");
});

Deno.test("upgrade() to the selected version completes at once with the same bytes, and is refused with others", async () => {
  const updater = await openUpdater();
  const bytes = agentBinary("1.0.0");
  const same = attemptWith({
    targetVersion: "1.0.0",
    artifact: { url: "https://artifacts.example/1", maxBytes: bytes.byteLength, sha256: sha256Hex(bytes) },
  });
  assertEquals(summary(await updater.service.upgrade(same, same, NEVER)), "complete");
  const others = attemptWith({ attemptId: uuidOf(2), targetVersion: "1.0.0" });
  assertEquals(summary(await updater.service.upgrade(others, others, NEVER)), "E_VERSION_SELECTED");
  assertEquals(updater.fetches(), 0);
});

Deno.test("upgrade() verifies and reuses an installed binary, and replaces one with other bytes", async () => {
  const reuse = await openUpdater();
  const path = binaryPath(PATHS, "2.0.0");
  await replaceFile(reuse.disk, path, BYTES, { mode: 0o755 });
  const attempt = attemptWith();
  assertEquals(summary(await reuse.service.upgrade(attempt, attempt, NEVER)), "complete");
  assertEquals(reuse.fetches(), 0);
  const replace = await openUpdater();
  await replaceFile(replace.disk, path, agentBinary("2.0.0", "exits-1"), { mode: 0o755 });
  assertEquals(summary(await replace.service.upgrade(attempt, attempt, NEVER)), "complete");
  assertEquals(replace.fetches(), 1);
  assertEquals(await replace.disk.readFile(path, BYTES.byteLength), BYTES);
});

Deno.test("upgrade() is refused while the journal's reserve is missing, and admitted when it is back", async () => {
  const updater = await openUpdater();
  await updater.disk.remove(`${PATHS.reserveDirectory}/slot-00`);
  const { store } = await JournalStore.open(updater.disk, PATHS);
  assertEquals(store.reserveComplete, false);
  updater.disk.setFreeBlocks(0);
  assertEquals(await store.refillReserve(), false);
  updater.disk.setFreeBlocks(undefined);
  assertEquals(await store.refillReserve(), true);
});

Deno.test("the journal remembers as many attempts as its limit says: they never run again, older ones would", async () => {
  const updater = await openUpdater();
  const attempts = Array.from(
    { length: JOURNAL_HISTORY_MAX + 1 },
    (_, index) => attemptWith({ attemptId: uuidOf(index) }),
  );
  for (const attempt of attempts) {
    assertEquals(summary(await updater.service.upgrade(attempt, attempt, NEVER)), "complete");
  }
  const remembered = updater.interpreter.record.history.map(({ attemptId }) => attemptId);
  assertEquals(remembered, attempts.slice(1).map(({ attemptId }) => attemptId));
  const [, second] = attempts;
  assert(second !== undefined);
  const before = updater.interpreter.record;
  assertEquals(summary(await updater.service.upgrade(second, second, NEVER)), "complete");
  assertEquals(updater.interpreter.record, before);
});
