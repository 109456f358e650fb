/**
 * Digest of the largest artifact, in the page cache: ours within the process, theirs with the start of their process,
 * which is how a script would use them.
 *
 * @module
 */
import { digestFile } from "../lib/digest/sha256_stream.ts";
import { osFileSystem } from "../lib/durable/os_file_system.ts";
import { artifactFile } from "./artifact_file.ts";
import { benchDirectory } from "./bench_directory.ts";
import { type Absent, compare, type Way } from "./comparison.ts";
import { missingProgram } from "./find_program.ts";
import { runProgram } from "./run_program.ts";

const { path, sizeBytes, sha256 } = await artifactFile(await benchDirectory());

function requireDigest(found: string | undefined): void {
  if (found !== sha256) throw new Error(`The digest is ${found}, not ${sha256}`);
}

function tool(program: string, args: readonly string[]): Way | Absent {
  const whyAbsent = missingProgram(program);
  if (whyAbsent !== null) return { whyAbsent };
  return { run: async () => requireDigest((await runProgram(program, [...args, path])).split(" ")[0]) };
}

compare({
  group: "sha256-100mib",
  ours: { run: async () => requireDigest((await digestFile(osFileSystem, path, { maxBytes: sizeBytes }))?.sha256) },
  theirs: {
    "openssl": tool("openssl", ["dgst", "-sha256", "-r"]),
    "sha256sum": tool("sha256sum", []),
  },
  aims: { openssl: { maxRatio: 1.1 } },
  runs: 5,
  sizeBytes,
});
