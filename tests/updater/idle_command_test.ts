import { assertEquals, assertRejects } from "@std/assert";
import type { DurablePhase } from "../../contracts/updater_protocol.ts";
import { FleetError } from "../../contracts/errors.ts";
import { EXIT_CODES } from "../../lib/program.ts";
import { EXIT_ACTIVE, idleCommand } from "../../updater/commands/idle.ts";
import { EXIT_QUARANTINED } from "../../updater/commands/status.ts";
import { JournalStore } from "../../updater/journal_store.ts";
import { attemptOf } from "../fakes/agent_samples.ts";
import { FakeUpdater } from "../fakes/fake_updater.ts";
import { MemoryFileSystem } from "../fakes/memory_file_system.ts";
import { SAMPLE_PATHS, SAMPLE_RECORDS } from "../fakes/upgrade_samples.ts";

const NO_SIGNAL = new AbortController().signal;

async function idle(fs: MemoryFileSystem, updaterSocket: string): Promise<[number, string]> {
  const lines: string[] = [];
  const code = await idleCommand({ ...SAMPLE_PATHS, updaterSocket }, fs, (line) => lines.push(line), NO_SIGNAL);
  return [code, lines.join("\n")];
}

async function withSocketPath(fn: (path: string) => Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir();
  try {
    await fn(`${dir}/updater.sock`);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

const JOURNALED: Readonly<Record<string, [number, string]>> = {
  "no transaction": [EXIT_CODES.ok, "idle: no upgrade yet"],
  "preparing": [EXIT_ACTIVE, "busy: an upgrade to 2.0.0 (preparing) is under way"],
  "activating (stopping)": [EXIT_ACTIVE, "busy: an upgrade to 2.0.0 (stopping) is under way"],
  "activating (starting)": [EXIT_ACTIVE, "busy: an upgrade to 2.0.0 (starting) is under way"],
  "committed": [EXIT_CODES.ok, "idle: the upgrade to 2.0.0 (complete) is over"],
  "rolling-back": [EXIT_ACTIVE, "busy: an upgrade to 2.0.0 (rolling-back) is under way"],
  "failed": [EXIT_CODES.ok, "idle: the upgrade to 2.0.0 (failed) is over"],
  "failed (restart)": [EXIT_ACTIVE, "busy: an upgrade to 2.0.0 (rolling-back) is under way"],
  "rollback-failed": [
    EXIT_QUARANTINED,
    "quarantined: the upgrade to 2.0.0 (rollback-failed) waits for fleet-updater repair",
  ],
};

Deno.test("idle: without an updater the journal decides, and is only read", () =>
  withSocketPath(async (socket) => {
    for (const [name, record] of Object.entries(SAMPLE_RECORDS)) {
      const fs = new MemoryFileSystem();
      const { store } = await JournalStore.open(fs, SAMPLE_PATHS);
      await store.store(record);
      const before = await fs.readFile(SAMPLE_PATHS.journal, 1 << 20);
      assertEquals(await idle(fs, socket), JOURNALED[name] ?? [-1, name], name);
      assertEquals(await fs.readFile(SAMPLE_PATHS.journal, 1 << 20), before);
    }
    assertEquals((await idle(new MemoryFileSystem(), socket))[0], EXIT_CODES.ok);
  }));

Deno.test("idle: a journal that cannot be trusted is no answer", () =>
  withSocketPath(async (socket) => {
    const fs = new MemoryFileSystem();
    const { store } = await JournalStore.open(fs, SAMPLE_PATHS);
    await store.store(SAMPLE_RECORDS["failed"] ?? { transaction: null, history: [] });
    const file = await fs.openExisting(SAMPLE_PATHS.journal);
    await file?.write(new TextEncoder().encode("{"));
    await file?.write(new TextEncoder().encode("{"));
    await file?.close();
    const [code, line] = await idle(fs, socket);
    assertEquals(code, EXIT_CODES.configuration);
    assertEquals(line.split("\n").length, 1);
  }));

Deno.test("idle: a live updater is asked, whatever the journal says", () =>
  withSocketPath(async (socket) => {
    const updater = new FakeUpdater(socket);
    updater.start();
    try {
      const code = async () => (await idle(new MemoryFileSystem(), socket))[0];
      assertEquals(await code(), EXIT_CODES.ok);
      const request = { protocol: 1, request: "upgrade", attempt: attemptOf(1) };
      const answered = updater.script.answer(request);
      const phases: [DurablePhase, number][] = [
        ["preparing", EXIT_ACTIVE],
        ["activating", EXIT_ACTIVE],
        ["rolling-back", EXIT_ACTIVE],
        ["rollback-failed", EXIT_QUARANTINED],
      ];
      for (const [phase, wanted] of phases) {
        if (updater.script.phase !== phase) updater.script.move(phase);
        assertEquals(await code(), wanted, phase);
      }
      await answered;
      updater.script.answerStatusWith = { protocol: 1, ok: "?" };
      await assertRejects(code, FleetError);
    } finally {
      await updater.stop();
    }
  }));
