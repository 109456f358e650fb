import { assertEquals } from "@std/assert";
import { PROCESS_RECORD_MAX_BYTES } from "../../contracts/limits.ts";
import { replaceFile } from "../../lib/durable/replace_file.ts";
import { createLogger, silentLogger } from "../../lib/log.ts";
import { MemoryFileSystem } from "../../tests/fakes/memory_file_system.ts";
import { type ProcessRecord, ProcessRecordFile } from "./process_record.ts";

const PATH = "/agent-process.json";
const RECORD: ProcessRecord = {
  schema: 1,
  bootId: "b".repeat(36),
  pid: 42,
  startTicks: 7,
  invocationId: "a".repeat(32),
  ready: true,
};

async function loadText(text: string): Promise<ProcessRecord | null> {
  const fs = new MemoryFileSystem();
  await replaceFile(fs, PATH, new TextEncoder().encode(text), { mode: 0o600 });
  return await new ProcessRecordFile(fs, PATH, silentLogger).load();
}

Deno.test("a record is read as it was written, until it is removed", async () => {
  const fs = new MemoryFileSystem();
  const file = new ProcessRecordFile(fs, PATH, silentLogger);
  assertEquals(await file.load(), null);
  file.save({ ...RECORD, ready: false });
  file.save(RECORD);
  await file.settled();
  assertEquals(await file.load(), RECORD);
  assertEquals((await fs.stat(PATH))?.mode, 0o600);
  file.clear();
  await file.settled();
  assertEquals(await file.load(), null);
});

Deno.test("anything else than a record is none", async () => {
  for (const text of ["", "{}", "null", JSON.stringify(RECORD).slice(1)]) assertEquals(await loadText(text), null);
  const changes = [{ schema: 2 }, { pid: 1 }, { pid: -5 }, { pid: "42" }, { startTicks: -1 }, { ready: 1 }];
  for (const change of changes) assertEquals(await loadText(JSON.stringify({ ...RECORD, ...change })), null);
});

Deno.test("a record is read up to its limit", async () => {
  const text = JSON.stringify(RECORD);
  assertEquals(await loadText(text.padEnd(PROCESS_RECORD_MAX_BYTES - 1)), RECORD);
  assertEquals(await loadText(text.padEnd(PROCESS_RECORD_MAX_BYTES)), RECORD);
  assertEquals(await loadText(text.padEnd(PROCESS_RECORD_MAX_BYTES + 1)), null);
});

Deno.test("a record that cannot be written is logged, once", async () => {
  const lines: string[] = [];
  const log = createLogger({ sink: (line) => lines.push(line), format: "json" });
  const file = new ProcessRecordFile(new MemoryFileSystem({ capacityBlocks: 0 }), PATH, log);
  file.save(RECORD);
  file.save(RECORD);
  await file.settled();
  assertEquals(lines.length, 1);
});
