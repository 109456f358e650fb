/**
 * The contract of {@link FileSystem}, as tests that every implementation passes.
 *
 * @module
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { FleetError } from "../../contracts/errors.ts";
import { DIGEST_CHUNK_BYTES } from "../../contracts/limits.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";

/** A file system under test. */
export interface FileSystemSubject {
  readonly fs: FileSystem;
  /** An empty directory of its own. */
  readonly root: string;
  dispose(): Promise<void>;
}

type Check = (fs: FileSystem, root: string) => Promise<void>;

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function put(fs: FileSystem, path: string, text: string, mode = 0o600): Promise<void> {
  const file = await fs.create(path, mode);
  await file.write(bytes(text));
  await file.sync();
  await file.close();
}

async function get(fs: FileSystem, path: string): Promise<string | null> {
  const content = await fs.readFile(path, 1_000_000);
  return content === null ? null : new TextDecoder().decode(content);
}

async function assertErrno(call: () => Promise<unknown>, errno: string, path = ""): Promise<void> {
  const error = await assertRejects(call, FleetError);
  assertEquals(error.code, `E_FS_${errno}`, error.message);
  assert(error.message.startsWith("Cannot ") && error.message.includes(path), error.message);
}

const FILE_CHECKS: Record<string, Check> = {
  "a created file has what was written, and its mode": async (fs, root) => {
    const file = await fs.create(`${root}/f`, 0o640);
    assertEquals(await fs.readFile(`${root}/f`, 0), new Uint8Array());
    await file.write(bytes("one"));
    await file.write(new Uint8Array());
    await file.write(bytes("two"));
    assertEquals(await get(fs, `${root}/f`), "onetwo");
    await file.sync();
    await file.close();
    await file.close();
    const info = await fs.stat(`${root}/f`);
    assertEquals([info?.kind, info?.sizeBytes, info?.mode], ["file", 6, 0o640]);
  },
  "the mode does not depend on the umask": async (fs, root) => {
    const before = Deno.umask(0o077);
    try {
      await put(fs, `${root}/f`, "x", 0o755);
    } finally {
      Deno.umask(before);
    }
    assertEquals((await fs.stat(`${root}/f`))?.mode, 0o755);
  },
  "create refuses whatever is there": async (fs, root) => {
    await put(fs, `${root}/f`, "kept");
    await fs.symlink("nowhere", `${root}/dangling`);
    await fs.makeDirectory(`${root}/d`, 0o755);
    for (const name of ["f", "dangling", "d"]) {
      await assertErrno(() => fs.create(`${root}/${name}`, 0o600), "EEXIST", `${root}/${name}`);
    }
    assertEquals(await get(fs, `${root}/f`), "kept");
    await assertErrno(() => fs.create(`${root}/missing/f`, 0o600), "ENOENT");
    await assertErrno(() => fs.create(`${root}/f/f`, 0o600), "ENOTDIR");
    await assertErrno(() => fs.create(`${root}/${"n".repeat(256)}`, 0o600), "ENAMETOOLONG");
    await put(fs, `${root}/${"n".repeat(255)}`, "longest");
  },
  "an existing file is written over from its start and keeps the rest": async (fs, root) => {
    await put(fs, `${root}/f`, "abcdef", 0o640);
    const file = await fs.openExisting(`${root}/f`);
    await file?.write(bytes("XY"));
    assertEquals(await get(fs, `${root}/f`), "XYcdef");
    await file?.truncate(3);
    await file?.sync();
    await file?.close();
    assertEquals(await get(fs, `${root}/f`), "XYc");
    assertEquals((await fs.stat(`${root}/f`))?.mode, 0o640);
  },
  "truncate can make a file longer, with zeroes": async (fs, root) => {
    const file = await fs.create(`${root}/f`, 0o600);
    await file.write(bytes("ab"));
    await file.truncate(4);
    await file.write(bytes("c"));
    await file.close();
    assertEquals(await get(fs, `${root}/f`), "abc\0");
  },
  "openExisting gives null for nothing and refuses links and directories": async (fs, root) => {
    assertEquals(await fs.openExisting(`${root}/f`), null);
    assertEquals(await fs.openExisting(`${root}/missing/f`), null);
    await put(fs, `${root}/f`, "x");
    await fs.symlink("f", `${root}/l`);
    await fs.makeDirectory(`${root}/d`, 0o755);
    await assertErrno(() => fs.openExisting(`${root}/l`), "ELOOP");
    await assertErrno(() => fs.openExisting(`${root}/d`), "EISDIR");
  },
  "readFile gives null for nothing, follows links, refuses directories and more than its limit": async (fs, root) => {
    assertEquals(await fs.readFile(`${root}/f`, 10), null);
    assertEquals(await fs.readFile(`${root}/missing/f`, 10), null);
    await put(fs, `${root}/f`, "12345");
    await fs.symlink("f", `${root}/relative`);
    await fs.symlink(`${root}/f`, `${root}/absolute`);
    await fs.symlink("nowhere", `${root}/dangling`);
    await fs.symlink("loop", `${root}/loop`);
    assertEquals(await get(fs, `${root}/relative`), "12345");
    assertEquals(await get(fs, `${root}/absolute`), "12345");
    assertEquals(await get(fs, `${root}/dangling`), null);
    await assertErrno(() => fs.readFile(`${root}/loop`, 10), "ELOOP");
    await assertErrno(() => fs.readFile(root, 10), "EISDIR");
    await assertErrno(() => fs.readFile(`${root}/f/x`, 10), "ENOTDIR");
    assertEquals((await fs.readFile(`${root}/f`, 5))?.byteLength, 5);
    assertEquals((await fs.readFile(`${root}/f`, 6))?.byteLength, 5);
    await assertErrno(() => fs.readFile(`${root}/f`, 4), "TOO_LARGE", `${root}/f`);
  },
  "readChunks gives a file in bounded chunks": async (fs, root) => {
    assertEquals(await fs.readChunks(`${root}/f`), null);
    const content = Uint8Array.from({ length: 2 * DIGEST_CHUNK_BYTES + 5 }, (_, index) => (index * 13) & 0xff);
    const file = await fs.create(`${root}/f`, 0o600);
    await file.write(content);
    await file.close();
    const found = new Uint8Array(content.byteLength);
    let length = 0;
    for await (const chunk of await fs.readChunks(`${root}/f`) ?? []) {
      assert(chunk.byteLength > 0 && chunk.byteLength <= DIGEST_CHUNK_BYTES);
      found.set(chunk, length);
      length += chunk.byteLength;
    }
    assertEquals(length, content.byteLength);
    assertEquals(found, content);
    for await (const _ of await fs.readChunks(`${root}/f`) ?? []) break;
    await assertErrno(() => fs.readChunks(root), "EISDIR");
  },
};

const NAME_CHECKS: Record<string, Check> = {
  "rename replaces a file or link": async (fs, root) => {
    await put(fs, `${root}/a`, "a");
    await put(fs, `${root}/b`, "b");
    await fs.rename(`${root}/a`, `${root}/b`);
    assertEquals([await get(fs, `${root}/a`), await get(fs, `${root}/b`)], [null, "a"]);
    await fs.symlink("nowhere", `${root}/l`);
    await fs.rename(`${root}/b`, `${root}/l`);
    assertEquals([(await fs.stat(`${root}/l`))?.kind, await get(fs, `${root}/l`)], ["file", "a"]);
    await fs.symlink("target", `${root}/m`);
    await fs.rename(`${root}/m`, `${root}/l`);
    assertEquals(await fs.readLink(`${root}/l`), "target");
    await fs.rename(`${root}/l`, `${root}/l`);
    assertEquals(await fs.list(root), ["l"]);
  },
  "rename moves between directories, and an open file with it": async (fs, root) => {
    await fs.makeDirectory(`${root}/d`, 0o755);
    const file = await fs.create(`${root}/a`, 0o600);
    await fs.rename(`${root}/a`, `${root}/d/b`);
    await file.write(bytes("late"));
    await file.close();
    assertEquals(await get(fs, `${root}/d/b`), "late");
    assertEquals(await fs.list(root), ["d"]);
  },
  "rename refuses what cannot be": async (fs, root) => {
    await put(fs, `${root}/f`, "x");
    await fs.makeDirectory(`${root}/d/e`, 0o755);
    await assertErrno(() => fs.rename(`${root}/missing`, `${root}/f`), "ENOENT", `${root}/missing`);
    await assertErrno(() => fs.rename(`${root}/f`, `${root}/missing/f`), "ENOENT");
    await assertErrno(() => fs.rename(`${root}/f`, `${root}/d`), "EISDIR");
    await assertErrno(() => fs.rename(`${root}/d`, `${root}/f`), "ENOTDIR");
    await assertErrno(() => fs.rename(`${root}/d`, `${root}/d/e/g`), "EINVAL");
    await fs.makeDirectory(`${root}/empty`, 0o755);
    await assertErrno(() => fs.rename(`${root}/empty`, `${root}/d`), "ENOTEMPTY");
    await fs.rename(`${root}/empty`, `${root}/d/e`);
    assertEquals((await fs.list(root)).sort(), ["d", "f"]);
  },
  "links say their target and refuse to replace": async (fs, root) => {
    assertEquals(await fs.readLink(`${root}/l`), null);
    assertEquals(await fs.readLink(`${root}/missing/l`), null);
    await fs.symlink("../some/where", `${root}/l`);
    assertEquals(await fs.readLink(`${root}/l`), "../some/where");
    const info = await fs.stat(`${root}/l`);
    assertEquals([info?.kind, info?.sizeBytes], ["link", 13]);
    await assertErrno(() => fs.symlink("other", `${root}/l`), "EEXIST");
    await put(fs, `${root}/f`, "x");
    await assertErrno(() => fs.readLink(`${root}/f`), "EINVAL");
    await assertErrno(() => fs.readLink(root), "EINVAL");
  },
  "remove removes a file or a link, not its target, and no directory": async (fs, root) => {
    await put(fs, `${root}/f`, "x");
    await fs.symlink("f", `${root}/l`);
    await fs.makeDirectory(`${root}/d`, 0o755);
    assertEquals(await fs.remove(`${root}/l`), true);
    assertEquals(await fs.remove(`${root}/l`), false);
    assertEquals(await fs.remove(`${root}/missing/l`), false);
    assertEquals(await get(fs, `${root}/f`), "x");
    await assertErrno(() => fs.remove(`${root}/d`), "EISDIR");
    assertEquals(await fs.remove(`${root}/f`), true);
    assertEquals(await fs.list(root), ["d"]);
  },
  "a removed file stays writable while it is open": async (fs, root) => {
    const file = await fs.create(`${root}/f`, 0o600);
    await fs.remove(`${root}/f`);
    await file.write(bytes("x"));
    await file.sync();
    await file.close();
    assertEquals(await fs.stat(`${root}/f`), null);
  },
  "directories are made with their parents and kept when they are there": async (fs, root) => {
    await fs.makeDirectory(`${root}/a/b`, 0o700);
    await put(fs, `${root}/a/b/f`, "x");
    await fs.makeDirectory(`${root}/a/b`, 0o755);
    assertEquals([(await fs.stat(`${root}/a/b`))?.kind, (await fs.stat(`${root}/a/b`))?.mode], ["directory", 0o700]);
    assertEquals(await fs.list(`${root}/a/b`), ["f"]);
    await assertErrno(() => fs.makeDirectory(`${root}/a/b/f/g`, 0o755), "ENOTDIR");
    await assertErrno(() => fs.makeDirectory(`${root}/a/b/f`, 0o755), "EEXIST");
  },
  "list and stat give nothing for nothing": async (fs, root) => {
    assertEquals(await fs.list(`${root}/missing`), []);
    assertEquals(await fs.stat(`${root}/missing`), null);
    assertEquals(await fs.stat(`${root}/missing/f`), null);
    assertEquals(await fs.list(root), []);
    await put(fs, `${root}/f`, "x");
    await assertErrno(() => fs.list(`${root}/f`), "ENOTDIR");
  },
  "paths lead through links to directories": async (fs, root) => {
    await fs.makeDirectory(`${root}/d`, 0o755);
    await fs.symlink("d", `${root}/l`);
    await put(fs, `${root}/l/f`, "x");
    assertEquals(await get(fs, `${root}/d/f`), "x");
    assertEquals(await fs.list(`${root}/l`), ["f"]);
    assertEquals(await get(fs, `${root}/l/../l/./f`), "x");
    await fs.syncDirectory(`${root}/l`);
  },
  "directories can be synced, and nothing else": async (fs, root) => {
    await fs.syncDirectory(root);
    await assertErrno(() => fs.syncDirectory(`${root}/missing`), "ENOENT");
    await put(fs, `${root}/f`, "x");
    await assertErrno(() => fs.syncDirectory(`${root}/f`), "ENOTDIR");
  },
  "free space is a number of bytes": async (fs, root) => {
    const free = await fs.freeBytes(root);
    assert(Number.isSafeInteger(free) && free > 0, `${free}`);
    await assertErrno(() => fs.freeBytes(`${root}/missing`), "ENOENT");
  },
  "chown changes an entry and no link's target": async (fs, root) => {
    await put(fs, `${root}/f`, "x");
    await fs.symlink("f", `${root}/l`);
    const own = await fs.stat(`${root}/f`);
    const { uid = 0, gid = 0 } = own ?? {};
    // Giving a file to others needs root; giving it to its owner does not.
    const other = uid === 0 ? 12_345 : uid;
    await fs.chown(`${root}/l`, other, gid);
    assertEquals((await fs.stat(`${root}/l`))?.uid, other);
    assertEquals((await fs.stat(`${root}/f`))?.uid, uid);
    await assertErrno(() => fs.chown(`${root}/missing`, uid, gid), "ENOENT");
  },
};

/**
 * Registers the tests of the contract.
 *
 * @param name The implementation
 * @param open Makes one to test
 */
export function fileSystemConformance(name: string, open: () => Promise<FileSystemSubject>): void {
  for (const [what, check] of Object.entries({ ...FILE_CHECKS, ...NAME_CHECKS })) {
    Deno.test(`${name}: ${what}`, async () => {
      const subject = await open();
      try {
        await check(subject.fs, subject.root);
      } finally {
        await subject.dispose();
      }
    });
  }
}
