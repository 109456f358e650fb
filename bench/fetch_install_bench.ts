/**
 * From the URL of the largest artifact to a durable binary at its path: ours, and the shell pipeline that does the same
 * work. Both fetch over TLS from the same server of the loopback interface.
 *
 * @module
 */
import { join } from "node:path";
import { PROGRAMS } from "../build/programs.ts";
import { startArtifactSource } from "./artifact_source.ts";
import { benchDirectory } from "./bench_directory.ts";
import { type Absent, compare, type Way } from "./comparison.ts";
import { missingProgram } from "./find_program.ts";
import { installArtifact, type Installation } from "./install_artifact.ts";
import { writeNote } from "./round_note.ts";
import { runProgram } from "./run_program.ts";

const PIPELINE = `
set -eu
temp=$4.tmp
curl --silent --show-error --fail --proto =https --max-time 300 --cacert "$2" --output "$temp" "$1"
found=$(openssl dgst -sha256 -r "$temp")
[ "\${found%% *}" = "$3" ]
chmod 755 "$temp"
sync "$temp"
mv -f "$temp" "$4"
sync "\${4%/*}"
`;

/** Issue 5. */
const MEMORY_GROWTH_MAX_MIB = 16;

const directory = await benchDirectory();
const { artifact, caFile, url, reference } = await startArtifactSource(directory);

/** Each side has a folder of its own, as a device has. */
async function installationOf(side: string): Promise<Installation> {
  const folder = join(directory, side);
  await Deno.mkdir(folder, { recursive: true });
  return { url, caFile, sha256: artifact.sha256, targetPath: join(folder, "fleet-agent-v2.0.0") };
}

async function removeTarget({ targetPath }: Installation): Promise<void> {
  await Deno.remove(targetPath).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

const ours = await installationOf("ours");
const theirs = await installationOf("shell");

function pipeline(): Way | Absent {
  const whyAbsent = missingProgram("sh", "curl", "openssl", "sync");
  if (whyAbsent !== null) return { whyAbsent };
  const { targetPath, sha256 } = theirs;
  return {
    prepare: () => removeTarget(theirs),
    run: async () => void await runProgram("sh", ["-c", PIPELINE, "sh", url, caFile, sha256, targetPath]),
  };
}

for (const [name, from] of [["", url], ["-oci", reference]] as const) {
  await removeTarget(ours);
  const growthMib = await runProgram(Deno.execPath(), [
    "run",
    "--quiet",
    "--no-check",
    "--allow-all",
    `--v8-flags=${PROGRAMS["fleet-updater"].v8Flags.join(",")}`,
    new URL("install_artifact.ts", import.meta.url).pathname,
    from,
    ours.caFile,
    ours.sha256,
    ours.targetPath,
  ]);
  const figure = `fetch-install-100mib${name}-memory-growth`;
  writeNote({ kind: "measure", figure, unit: "MiB", ours: Number(growthMib), theirs: null });
  writeNote({ kind: "aim", figure, aim: { maxOurs: MEMORY_GROWTH_MAX_MIB } });
}

compare({
  group: "fetch-install-100mib",
  ours: { prepare: () => removeTarget(ours), run: () => installArtifact(ours) },
  theirs: { "curl+openssl+sync": pipeline() },
  aims: { "curl+openssl+sync": { maxRatio: 1 } },
  runs: 3,
  sizeBytes: artifact.sizeBytes,
});
