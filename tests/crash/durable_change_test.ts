import { assert, assertEquals, assertGreater } from "@std/assert";
import { makeDirectoryDurably } from "../../lib/durable/make_directory.ts";
import { renameDurably } from "../../lib/durable/replace_file.ts";
import { FaultyFileSystem } from "../fakes/faulty_file_system.ts";
import type { FileOperation } from "../fakes/file_operation.ts";
import { MemoryFileSystem } from "../fakes/memory_file_system.ts";
import { report } from "../fakes/report.ts";
import { brokenStates, CHANGES, diskBefore, type DurableChange } from "./durable_world.ts";

const isSync = ({ name }: FileOperation) => name === "sync" || name === "syncDirectory";

/** Runs a change and looks at every state of every moment at which the power may be cut. */
async function crashEverywhere(
  change: DurableChange,
  wrap: (fs: MemoryFileSystem) => FaultyFileSystem | MemoryFileSystem,
): Promise<{ moments: number; states: number; broken: (string | null)[] }> {
  const fs = await diskBefore(change);
  const moments: MemoryFileSystem[] = [fs.clone()];
  const stop = fs.onOperation((_, when) => when === "after" && moments.push(fs.clone()));
  await change.run(wrap(fs));
  stop();
  let states = 0;
  const broken: (string | null)[] = [];
  for (const moment of moments) {
    const found = await brokenStates(moment, change, [change.before, change.after]);
    states += found.states;
    broken.push(...found.broken);
  }
  const end = await brokenStates(fs, change, [change.after]);
  return { moments: moments.length, states: states + end.states, broken: [...broken, ...end.broken] };
}

for (const change of CHANGES) {
  Deno.test(`${change.name}: every state after a power cut at every moment is old or new, and new at the end`, async () => {
    const { moments, states, broken } = await crashEverywhere(change, (fs) => fs);
    report(`${change.name}: ${moments} moments, ${states} states`);
    assertEquals(broken, []);
    assertGreater(states, moments);
  });

  Deno.test(`${change.name}: without any one of its syncs the simulated disk finds a broken state`, async () => {
    const counting = new FaultyFileSystem(await diskBefore(change), null, isSync);
    await change.run(counting);
    const syncs = counting.operations.filter(isSync).length;
    assertGreater(syncs, 0);
    for (let at = 1; at <= syncs; at++) {
      const { broken } = await crashEverywhere(change, (fs) => new FaultyFileSystem(fs, { at, skip: true }, isSync));
      assertGreater(broken.length, 0, `sync ${at} of ${syncs} is not needed`);
    }
  });
}

Deno.test("selectLink() makes a selection durable that is there already, but in memory only", async () => {
  const [change] = CHANGES.filter(({ name }) => name === "selectLink() of a link");
  assert(change !== undefined);
  const fs = await diskBefore(change);
  await fs.symlink(change.after, "/var/lib/x/temp");
  await fs.rename("/var/lib/x/temp", "/var/lib/x/link");
  assertGreater((await brokenStates(fs, change, [change.after])).broken.length, 0);
  await change.run(fs);
  assertEquals((await brokenStates(fs, change, [change.after])).broken, []);
});

Deno.test("renameDurably() across directories keeps the file once it has returned, and loses no old one before", async () => {
  const fs = new MemoryFileSystem();
  const write = async (path: string, text: string) => {
    const file = await fs.create(path, 0o600);
    await file.write(new TextEncoder().encode(text));
    await file.close();
  };
  await fs.makeDirectory("/reserve", 0o700);
  await fs.makeDirectory("/state", 0o700);
  await write("/reserve/slot", "new");
  await write("/state/journal", "old");
  fs.syncAll();
  const text = async (disk: MemoryFileSystem) =>
    new TextDecoder().decode(await disk.readFile("/state/journal", 10) ?? undefined);
  const stop = fs.onOperation(() => moments.push(fs.clone()));
  const moments: MemoryFileSystem[] = [];
  await renameDurably(fs, "/reserve/slot", "/state/journal");
  stop();
  for (const moment of moments) {
    for (const disk of moment.crashStates()) assert(["old", "new"].includes(await text(disk)), await text(disk));
  }
  const states = fs.crashStates();
  assertEquals(states.count, 1);
  for (const disk of states) assertEquals([await text(disk), await disk.list("/reserve")], ["new", []]);
});

Deno.test("makeDirectoryDurably() leaves a durable directory, also after a run that was killed at any operation", async () => {
  for (const crash of ["before", "after"] as const) {
    let crashed = true;
    for (let at = 1; crashed; at++) {
      const fs = new MemoryFileSystem();
      await fs.makeDirectory("/var", 0o755);
      const faulty = new FaultyFileSystem(fs, { at, crash });
      await makeDirectoryDurably(faulty, "/var/lib/a/b", 0o700).catch(() => {});
      crashed = faulty.crashed;
      await makeDirectoryDurably(fs, "/var/lib/a/b", 0o700);
      fs.onOperation(({ name }) => assertEquals(name, "syncDirectory", "a directory that is there is only synced"));
      await makeDirectoryDurably(fs, "/var/lib/a/b", 0o755);
      const states = fs.crashStates();
      assertEquals(states.count, 1);
      for (const disk of states) assertEquals((await disk.stat("/var/lib/a/b"))?.mode, 0o700);
    }
  }
});

Deno.test("makeDirectoryDurably() works below a read-only file system that cannot sync", async () => {
  for (const errno of ["EROFS", "EINVAL", "EIO"] as const) {
    const fs = new MemoryFileSystem();
    await fs.makeDirectory("/mount/state", 0o755);
    const faulty = new FaultyFileSystem(fs, { at: 1, errno, times: "once" }, isSync);
    const error = await makeDirectoryDurably(faulty, "/mount/state", 0o700).catch((caught) => caught);
    assertEquals([faulty.injected, error?.code], [1, errno === "EIO" ? "E_FSYNC" : undefined]);
  }
});
