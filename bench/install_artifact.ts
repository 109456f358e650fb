/**
 * Ours of the comparison of fetch and install; as a program it does so once, in the heap that the updater has, and
 * prints what that took of memory over idle, in MiB.
 *
 * usage: install_artifact.ts URL CA_FILE SHA256 TARGET
 *
 * @module
 */
import type { AgentUpgradeAttempt } from "../contracts/agent_upgrade.ts";
import { ARTIFACT_MAX_BYTES } from "../contracts/limits.ts";
import { systemClock } from "../lib/deadline.ts";
import { osFileSystem } from "../lib/durable/os_file_system.ts";
import { prepareCandidate } from "../updater/candidate.ts";
import { artifactFetcher } from "../lib/fetch/artifact_fetcher.ts";
import { forgetPeak, readMemory } from "./process_memory.ts";

/** What is installed, and where. */
export interface Installation {
  readonly url: string;
  readonly caFile: string;
  readonly sha256: string;
  readonly targetPath: string;
}

/**
 * Installs an artifact as the updater does. What is at the target must not be the artifact.
 *
 * @param installation What, and where
 */
export async function installArtifact({ url, caFile, sha256, targetPath }: Installation): Promise<void> {
  const attempt: AgentUpgradeAttempt = {
    schema: 1,
    attemptId: "0b9c3d1e-6f5a-4b7c-8d9e-0a1b2c3d4e5f",
    deviceId: "device-1",
    targetVersion: "2.0.0",
    arch: "x86_64",
    artifact: { url, maxBytes: ARTIFACT_MAX_BYTES, sha256 },
  };
  const context = { fs: osFileSystem, fetcher: artifactFetcher({ arch: Deno.build.arch, caFile }), clock: systemClock };
  const { how } = await prepareCandidate(context, attempt, targetPath, new AbortController().signal);
  if (how !== "fetched") throw new Error(`Cannot measure the installation: the artifact was ${how}`);
}

if (import.meta.main) {
  const [url = "", caFile = "", sha256 = "", targetPath = ""] = Deno.args;
  forgetPeak();
  const { residentMib } = readMemory();
  await installArtifact({ url, caFile, sha256, targetPath });
  const growthMib = readMemory().peakMib - residentMib;
  Deno.stdout.writeSync(new TextEncoder().encode(`${growthMib}\n`));
}
