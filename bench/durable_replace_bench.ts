/**
 * Durable replacement of a small file, such as a journal: temporary file, sync, rename, sync of the directory. Ten in a
 * row, so that the way to the other process does not count.
 *
 * @module
 */
import fsPromises from "node:fs/promises";
import { constants } from "node:fs";
import { join } from "node:path";
import { osFileSystem } from "../lib/durable/os_file_system.ts";
import { replaceFile } from "../lib/durable/replace_file.ts";
import { benchDirectory } from "./bench_directory.ts";
import { type Absent, compare, type Way } from "./comparison.ts";
import { missingProgram } from "./find_program.ts";
import { startLineServer } from "./line_server.ts";
import { runProgram } from "./run_program.ts";

const FILE_BYTES = 4_096;
const REPLACEMENTS = 10;
const MODE = 0o600;

const PYTHON = `
import os, secrets, sys
directory, data, times = sys.argv[1], b"x" * int(sys.argv[2]), int(sys.argv[3])
path = directory + "/journal"
for line in sys.stdin:
    for _ in range(times):
        temp = directory + "/.journal." + secrets.token_hex(8) + ".tmp"
        file = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(file, data)
        os.fsync(file)
        os.close(file)
        os.rename(temp, path)
        folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(folder)
        os.close(folder)
    print("done", flush=True)
`;

const SHELL = `
set -eu
umask 077
count=0
while [ "$count" -lt "$3" ]; do
  temp=$(mktemp "$1/.journal.XXXXXXXX")
  head -c "$2" /dev/zero >"$temp"
  sync "$temp"
  mv -f "$temp" "$1/journal"
  sync "$1"
  count=$((count + 1))
done
`;

const bytes = new Uint8Array(FILE_BYTES);
const directory = await benchDirectory();

/** Each side has a folder of its own. */
async function folderOf(side: string): Promise<string> {
  const folder = join(directory, `replace-${side}`);
  await Deno.mkdir(folder, { recursive: true });
  return folder;
}

async function ours(): Promise<Way> {
  const path = join(await folderOf("ours"), "journal");
  return {
    run: async () => {
      for (let done = 0; done < REPLACEMENTS; done++) await replaceFile(osFileSystem, path, bytes, { mode: MODE });
    },
  };
}

async function python(): Promise<Way | Absent> {
  const whyAbsent = missingProgram("python3");
  if (whyAbsent !== null) return { whyAbsent };
  const folder = await folderOf("python3");
  const server = startLineServer("python3", ["-c", PYTHON, folder, `${FILE_BYTES}`, `${REPLACEMENTS}`]);
  return {
    run: async () => {
      await server.writeLine("go");
      if (await server.readLine() !== "done") throw new Error("Cannot measure: python3 did not do it");
    },
  };
}

async function shell(): Promise<Way | Absent> {
  const whyAbsent = missingProgram("sh", "mktemp", "head", "sync", "mv");
  if (whyAbsent !== null) return { whyAbsent };
  const folder = await folderOf("shell");
  return {
    run: async () => void await runProgram("sh", ["-c", SHELL, "sh", folder, `${FILE_BYTES}`, `${REPLACEMENTS}`]),
  };
}

/** What packages of npm do, with the sync of the directory that they leave out. */
async function nodeFs(): Promise<Way> {
  const folder = await folderOf("node-fs");
  const replace = async () => {
    const temp = join(folder, `.journal.${crypto.randomUUID()}.tmp`);
    const file = await fsPromises.open(temp, "wx", MODE);
    await file.writeFile(bytes);
    await file.sync();
    await file.close();
    await fsPromises.rename(temp, join(folder, "journal"));
    const parent = await fsPromises.open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
    await parent.sync();
    await parent.close();
  };
  return {
    run: async () => {
      for (let done = 0; done < REPLACEMENTS; done++) await replace();
    },
  };
}

compare({
  group: "durable-replace-10x4kib",
  ours: await ours(),
  theirs: { "python3": await python(), "node-fs": await nodeFs(), "shell": await shell() },
  runs: 20,
});
