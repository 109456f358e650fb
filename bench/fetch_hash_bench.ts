/**
 * The largest artifact fetched and hashed in one pass over TLS of the loopback interface: ours over both schemes, and
 * `curl | openssl dgst`. Nothing is written.
 *
 * @module
 */
import { Sha256Stream } from "../lib/digest/sha256_stream.ts";
import { artifactFetcher } from "../lib/fetch/artifact_fetcher.ts";
import { startArtifactSource } from "./artifact_source.ts";
import { benchDirectory } from "./bench_directory.ts";
import { type Absent, compare, type Way } from "./comparison.ts";
import { missingProgram } from "./find_program.ts";
import { runProgram } from "./run_program.ts";

const PIPELINE = `
set -eu
found=$(curl --silent --show-error --fail --proto =https --max-time 300 --cacert "$2" "$1" | openssl dgst -sha256 -r)
[ "\${found%% *}" = "$3" ]
`;

const { artifact, caFile, url, reference } = await startArtifactSource(await benchDirectory());
const { sha256, sizeBytes } = artifact;
const fetcher = artifactFetcher({ arch: Deno.build.arch, caFile });

async function fetchAndHash(from: string): Promise<void> {
  const digest = new Sha256Stream(sizeBytes);
  const request = { url: from, sha256, maxBytes: sizeBytes };
  for await (const chunk of fetcher.fetch(request, new AbortController().signal)) digest.update(chunk);
  if (digest.hex() !== sha256) throw new Error("Cannot measure the fetch: other bytes came");
}

function pipeline(): Way | Absent {
  const whyAbsent = missingProgram("sh", "curl", "openssl");
  if (whyAbsent !== null) return { whyAbsent };
  return { run: async () => void await runProgram("sh", ["-c", PIPELINE, "sh", url, caFile, sha256]) };
}

// A registry is asked for the manifest first, which curl is not told about: the same pipeline is beside both.
for (const [scheme, from] of [["https", url], ["oci", reference]] as const) {
  compare({
    group: `fetch-hash-100mib-${scheme}`,
    ours: { run: () => fetchAndHash(from) },
    theirs: { "curl+openssl": pipeline() },
    aims: { "curl+openssl": { maxRatio: 1 } },
    runs: 3,
    sizeBytes,
  });
}
