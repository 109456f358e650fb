/**
 * Every newest value of a bucket, from a real server: ours, and what the NATS library has for it.
 *
 * @module
 */
import { join } from "node:path";
import { PROGRAMS } from "../build/programs.ts";
import { findNatsServer } from "../tests/nats/find_nats_server.ts";
import { benchDirectory } from "./bench_directory.ts";
import { compare, type Way } from "./comparison.ts";
import { startLineServer } from "./line_server.ts";
import { writeNote } from "./round_note.ts";
import { runProgram } from "./run_program.ts";
import { SNAPSHOT_READERS, type SnapshotReaderName } from "./snapshot_readers.ts";
import { SNAPSHOT_SIZES } from "./snapshot_sizes.ts";

const LIBRARY = ["kv-keys", "ordered-consumer"] as const;
/** Of 100k keys: issue 3. */
const TIME_AIM_MS = 600;
const MEMORY_AIM_MIB = 64;
const LARGE = "100k";

async function startServer(): Promise<string> {
  const directory = join(await benchDirectory(), "nats");
  await Deno.mkdir(directory, { recursive: true });
  const program = new URL("snapshot_server.ts", import.meta.url).pathname;
  const server = startLineServer(Deno.execPath(), ["run", "--quiet", "--no-check", "--allow-all", program, directory]);
  return await server.readLine();
}

/** Over idle, in the operator's heap: it is the program that reads whole buckets. */
async function memoryGrowthMib(reader: SnapshotReaderName, url: string): Promise<number> {
  return Number(
    await runProgram(Deno.execPath(), [
      "run",
      "--quiet",
      "--no-check",
      "--allow-all",
      `--v8-flags=${PROGRAMS["fleet-operator"].v8Flags.join(",")}`,
      new URL("snapshot_memory.ts", import.meta.url).pathname,
      reader,
      url,
      LARGE,
    ]),
  );
}

async function measureMemory(url: string): Promise<void> {
  const group = `snapshot-${LARGE}-memory-growth`;
  const ours = await memoryGrowthMib("ours", url);
  for (const library of LIBRARY) {
    const figure = `${group}/${library}`;
    writeNote({ kind: "aim", figure, aim: { maxOurs: MEMORY_AIM_MIB } });
    writeNote({ kind: "measure", figure, unit: "MiB", ours, theirs: await memoryGrowthMib(library, url) });
  }
  const inMap = await memoryGrowthMib("ours-in-map", url);
  writeNote({ kind: "measure", figure: `${group}-in-map`, unit: "MiB", ours: inMap, theirs: null });
}

async function compareTimes(url: string): Promise<void> {
  const [ours, keys, ordered] = await Promise.all([
    SNAPSHOT_READERS["ours"](url),
    SNAPSHOT_READERS["kv-keys"](url),
    SNAPSHOT_READERS["ordered-consumer"](url),
  ]);
  for (const { name, bucket, keys: expected } of SNAPSHOT_SIZES) {
    const way = (read: typeof ours): Way => ({
      run: async () => {
        const found = await read(bucket);
        if (found !== expected) throw new Error(`Cannot measure: ${found} keys came, not ${expected}`);
      },
    });
    const aim = name === LARGE ? { maxOurs: TIME_AIM_MS } : undefined;
    compare({
      group: `snapshot-${name}`,
      ours: way(ours),
      theirs: { "kv-keys": way(keys), "ordered-consumer": way(ordered) },
      aims: aim === undefined ? {} : { "kv-keys": aim, "ordered-consumer": aim },
      runs: 3,
    });
  }
}

const whyAbsent = await findNatsServer().then(() => null, (error: Error) => error.message);
if (whyAbsent === null) {
  const url = await startServer();
  await measureMemory(url);
  await compareTimes(url);
} else {
  for (const { name } of SNAPSHOT_SIZES) {
    for (const library of LIBRARY) {
      writeNote({ kind: "skipped", figure: `snapshot-${name}/${library}`, why: whyAbsent });
    }
  }
}
