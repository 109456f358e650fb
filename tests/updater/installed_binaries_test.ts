import { assertEquals } from "@std/assert";
import { BINARIES_SHOWN_MAX } from "../../contracts/limits.ts";
import { binaryPath, managedPaths } from "../../contracts/managed_paths.ts";
import { replaceFile } from "../../lib/durable/replace_file.ts";
import { partialPath } from "../../updater/partial_artifact.ts";
import { installedBinaries } from "../../updater/repair/installed_binaries.ts";
import { MemoryFileSystem } from "../fakes/memory_file_system.ts";

const PATHS = managedPaths();

async function diskWith(count: number): Promise<MemoryFileSystem> {
  const disk = new MemoryFileSystem();
  await disk.makeDirectory(PATHS.binariesDirectory, 0o755);
  for (let index = 0; index < count; index++) {
    await replaceFile(disk, binaryPath(PATHS, `1.0.${index}`), new Uint8Array(index), { mode: 0o755 });
  }
  return disk;
}

for (const extra of [-1, 0, 1]) {
  Deno.test(`installedBinaries() of ${BINARIES_SHOWN_MAX + extra} binaries`, async () => {
    const { binaries, moreBinaries } = await installedBinaries(await diskWith(BINARIES_SHOWN_MAX + extra), PATHS);
    assertEquals([binaries.length, moreBinaries], [BINARIES_SHOWN_MAX + Math.min(0, extra), Math.max(0, extra)]);
  });
}

Deno.test("installedBinaries() shows managed binaries only", async () => {
  const disk = await diskWith(2);
  const { binariesDirectory } = PATHS;
  for (const name of ["fleet-agent-vlatest", "notes", ".fleet-agent-v1.0.0.0123456789abcdef.tmp"]) {
    await replaceFile(disk, `${binariesDirectory}/${name}`, new Uint8Array(1), { mode: 0o755 });
  }
  await replaceFile(disk, partialPath(binariesDirectory, "0".repeat(64)), new Uint8Array(1), { mode: 0o755 });
  await disk.symlink("/usr/bin/env", binaryPath(PATHS, "9.0.0"));
  assertEquals(await installedBinaries(disk, PATHS), {
    binaries: ["1.0.0", "1.0.1"].map((version, index) => ({
      version,
      path: binaryPath(PATHS, version),
      sizeBytes: index,
    })),
    moreBinaries: 0,
  });
});
