import { assert, assertEquals, assertRejects } from "@std/assert";
import { FleetError, isFleetError } from "../../contracts/errors.ts";
import type { WritableFile } from "./file_system.ts";
import { syncFile } from "./fsync.ts";
import { SyncBehindFile } from "./sync_behind_file.ts";

const EVERY_BYTES = 100;

/** A file that writes down what is asked of it, and whose syncs end when they are told to. */
class ScriptedFile implements WritableFile {
  readonly log: string[] = [];
  readonly syncs: PromiseWithResolvers<void>[] = [];

  write(bytes: Uint8Array): Promise<void> {
    this.log.push(`write ${bytes.byteLength}`);
    return Promise.resolve();
  }

  truncate(sizeBytes: number): Promise<void> {
    this.log.push(`truncate ${sizeBytes}`);
    return Promise.resolve();
  }

  sync(): Promise<void> {
    this.log.push("sync");
    const sync = Promise.withResolvers<void>();
    this.syncs.push(sync);
    return sync.promise;
  }

  close(): Promise<void> {
    this.log.push("close");
    return Promise.resolve();
  }
}

function scripted(): { inner: ScriptedFile; file: SyncBehindFile } {
  const inner = new ScriptedFile();
  return { inner, file: new SyncBehindFile(inner, "/x", EVERY_BYTES) };
}

for (const [sizeBytes, begun] of [[EVERY_BYTES - 1, false], [EVERY_BYTES, true], [EVERY_BYTES + 1, true]] as const) {
  Deno.test(`${sizeBytes} of ${EVERY_BYTES} bytes ${begun ? "begin a sync" : "begin none"}`, async () => {
    const { inner, file } = scripted();
    await file.write(new Uint8Array(50));
    await file.write(new Uint8Array(sizeBytes - 50));
    assertEquals(inner.log.includes("sync"), begun);
  });
}

Deno.test("writing goes on while a sync runs, and one sync runs at a time", async () => {
  const { inner, file } = scripted();
  for (let index = 0; index < 4; index++) await file.write(new Uint8Array(EVERY_BYTES));
  assertEquals(inner.log, ["write 100", "sync", "write 100", "write 100", "write 100"]);
  inner.syncs[0]?.resolve();
  await inner.syncs[0]?.promise;
  // The next write finds the first sync done, and all that has come since waiting.
  await file.write(new Uint8Array(1));
  await file.write(new Uint8Array(1));
  assertEquals(inner.log.filter((line) => line === "sync").length, 2);
});

Deno.test("sync() and close() wait for the sync that runs, and sync() then makes durable", async () => {
  const { inner, file } = scripted();
  await file.write(new Uint8Array(EVERY_BYTES));
  const synced = file.sync();
  const closed = file.close();
  assertEquals(inner.log, ["write 100", "sync"]);
  inner.syncs[0]?.resolve();
  await closed;
  assertEquals(inner.log.slice(2).sort(), ["close", "sync"]);
  inner.syncs[1]?.resolve();
  await synced;
});

Deno.test("a sync that failed behind a write fails the next write and every sync, and is never tried again", async () => {
  const { inner, file } = scripted();
  await file.write(new Uint8Array(EVERY_BYTES));
  inner.syncs[0]?.reject(new FleetError("broken", { code: "E_FS_EIO" }));
  const failed = await assertRejects(() => file.sync(), FleetError);
  assert(isFleetError(failed, "E_FSYNC"));
  assertEquals(failed.retry, "fatal");
  assertEquals(await assertRejects(() => file.write(new Uint8Array(1)), FleetError), failed);
  // Whoever syncs it by the usual way gets the same error, not one around it.
  assertEquals(await assertRejects(() => syncFile(file, "/x"), FleetError), failed);
  await file.close();
  assertEquals(inner.log, ["write 100", "sync", "close"]);
});
