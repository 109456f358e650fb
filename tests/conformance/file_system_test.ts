import { osFileSystem } from "../../lib/durable/os_file_system.ts";
import { FaultyFileSystem } from "../fakes/faulty_file_system.ts";
import { MemoryFileSystem } from "../fakes/memory_file_system.ts";
import { fileSystemConformance } from "./file_system.ts";

fileSystemConformance("the real file system", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "file-system-" }));
  return { fs: osFileSystem, root, dispose: () => Deno.remove(root, { recursive: true }) };
});

fileSystemConformance("the simulated disk", async () => {
  const fs = new MemoryFileSystem();
  await fs.makeDirectory("/tmp/test", 0o755);
  return { fs, root: "/tmp/test", dispose: () => Promise.resolve() };
});

fileSystemConformance("a simulated disk that was restored from a power cut", async () => {
  const before = new MemoryFileSystem();
  await before.makeDirectory("/tmp/test", 0o755);
  before.syncAll();
  const [fs = before] = before.crashStates();
  return { fs, root: "/tmp/test", dispose: () => Promise.resolve() };
});

fileSystemConformance("a file system without faults behind the fault injector", async () => {
  const inner = new MemoryFileSystem();
  await inner.makeDirectory("/tmp/test", 0o755);
  return { fs: new FaultyFileSystem(inner, null), root: "/tmp/test", dispose: () => Promise.resolve() };
});
