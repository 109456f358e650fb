import { fileURLToPath } from "node:url";
import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { isFleetError } from "../../contracts/errors.ts";
import { withDeadline } from "../../lib/deadline.ts";
import { acquireLock } from "../../lib/durable/process_lock.ts";

const HOLDER = fileURLToPath(new URL("./fixtures/lock_holder.ts", import.meta.url));

async function withDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "lock-" });
  try {
    await run(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("a lock is held once and can be taken again after its release", () =>
  withDirectory(async (directory) => {
    const path = `${directory}/lock`;
    const lock = await acquireLock(path);
    assert(lock !== null);
    assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    assertEquals(await acquireLock(path), null);
    lock.release();
    lock.release();
    const again = await acquireLock(path);
    assertNotEquals(again, null);
    again?.release();
  }));

Deno.test("a lock file that was removed does not let a second holder in unseen", () =>
  withDirectory(async (directory) => {
    const path = `${directory}/lock`;
    const first = await acquireLock(path);
    await Deno.remove(path);
    const second = await acquireLock(path);
    assertNotEquals(second, null);
    assertEquals(await acquireLock(path), null);
    first?.release();
    assertEquals(await acquireLock(path), null);
    second?.release();
  }));

Deno.test("a lock ends with its process, however that ends", () =>
  withDirectory(async (directory) => {
    const path = `${directory}/lock`;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-check", "--allow-read", "--allow-write", HOLDER, path],
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const reader = child.stdout.getReader();
    await withDeadline(30_000, "see the lock taken", () => reader.read());
    assertEquals(await acquireLock(path), null);
    child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
    const lock = await acquireLock(path);
    assertNotEquals(lock, null);
    lock?.release();
  }));

Deno.test("a lock in a directory that is not there is a typed error", async () => {
  const error = await assertRejects(() => acquireLock("/nowhere/at/all/lock"));
  assert(isFleetError(error, "E_FS_ENOENT"));
});
