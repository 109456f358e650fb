/**
 * Prints how many MiB one snapshot takes over idle, in a process of its own.
 *
 * usage: snapshot_memory.ts READER URL SIZE
 *
 * @module
 */
import { forgetPeak, readMemory } from "./process_memory.ts";
import { isSnapshotReaderName, SNAPSHOT_READERS } from "./snapshot_readers.ts";
import { SNAPSHOT_SIZES } from "./snapshot_sizes.ts";

const [name = "", url = "", sizeName = ""] = Deno.args;
const size = SNAPSHOT_SIZES.find((size) => size.name === sizeName);
if (!isSnapshotReaderName(name) || size === undefined) throw new Error("usage: snapshot_memory.ts READER URL SIZE");
const read = await SNAPSHOT_READERS[name](url);
forgetPeak();
const { residentMib } = readMemory();
const keys = await read(size.bucket);
if (keys !== size.keys) throw new Error(`Cannot measure: ${keys} keys came, not ${size.keys}`);
const growthMib = readMemory().peakMib - residentMib;
Deno.stdout.writeSync(new TextEncoder().encode(`${growthMib}\n`));
Deno.exit(0);
