/**
 * What the tests of this folder share: a short directory, an authority, an artifact, and a device that installs.
 *
 * @module
 */
import { sha256Hex } from "../../contracts/digest.ts";
import { FleetError } from "../../contracts/errors.ts";
import { binaryPath, managedPaths } from "../../contracts/managed_paths.ts";
import { systemClock } from "../../lib/deadline.ts";
import { osFileSystem } from "../../lib/durable/os_file_system.ts";
import { artifactFetcher } from "../../lib/fetch/artifact_fetcher.ts";
import type { FetchBounds } from "../../lib/fetch/fetch_run.ts";
import { prepareCandidate } from "../../updater/candidate.ts";
import { sampleAttempt } from "../fakes/upgrade_samples.ts";
import { seededRandom } from "../fakes/seeded_random.ts";
import { createTestAuthority, type TestAuthority } from "../tls/test_authority.ts";

/** Waits that do not keep a test waiting. */
export const QUICK: FetchBounds = { resumeMinMs: 1, resumeMaxMs: 5 };

/** A directory with an authority. */
export interface ArtifactWorld {
  readonly directory: string;
  readonly authority: TestAuthority;
  readonly caFile: string;
}

/** Runs a test in a world of its own. */
export async function withArtifactWorld(test: (world: ArtifactWorld) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "art-" });
  try {
    const authority = await createTestAuthority();
    const caFile = `${directory}/ca.pem`;
    await Deno.writeTextFile(caFile, authority.caCert);
    await test({ directory, authority, caFile });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Bytes that nothing compresses, the same for the same seed. */
export function artifactBytes(sizeBytes: number, seed = 1): Uint8Array<ArrayBuffer> {
  const random = seededRandom(seed);
  return Uint8Array.from({ length: sizeBytes }, () => Math.floor(random() * 256));
}

/** How an installation ended, and what then stands where. */
export interface InstallOutcome {
  /** `fetched`, `resumed`, or the error's code and class. */
  readonly verdict: string;
  readonly message: string;
  /** What is installed, or null. */
  readonly sha256: string | null;
  /** Names beside it. */
  readonly left: readonly string[];
}

/** What is installed, and how. */
export interface InstallOptions {
  readonly url: string;
  readonly sha256: string;
  readonly maxBytes: number;
  readonly bounds?: FetchBounds;
  readonly followBlobRedirects?: boolean;
  /** Folder of the device below the world's. Default `device` */
  readonly device?: string;
}

/** Installs as the updater does, into a device's folder. */
export async function install(world: ArtifactWorld, options: InstallOptions): Promise<InstallOutcome> {
  const { url, sha256, maxBytes, bounds = {}, device = "device" } = options;
  const paths = managedPaths(`${world.directory}/${device}`);
  const target = binaryPath(paths, "2.0.0");
  const fetcher = artifactFetcher({
    arch: Deno.build.arch,
    caFile: world.caFile,
    bounds: { ...QUICK, ...bounds },
    ...(options.followBlobRedirects === undefined ? {} : { followBlobRedirects: options.followBlobRedirects }),
  });
  const attempt = sampleAttempt({ targetVersion: "2.0.0", artifact: { url, sha256, maxBytes } });
  let verdict: string;
  let message = "";
  try {
    const context = { fs: osFileSystem, fetcher, clock: systemClock };
    verdict = (await prepareCandidate(context, attempt, target, new AbortController().signal)).how;
  } catch (error) {
    if (!(error instanceof FleetError)) throw error;
    verdict = `${error.code} ${error.failureClass}`;
    message = error.message;
  }
  const installed = await Deno.readFile(target).catch(() => null);
  const left = [...Deno.readDirSync(paths.binariesDirectory)].map(({ name }) => name)
    .filter((name) => !target.endsWith(name)).sort();
  return { verdict, message, sha256: installed === null ? null : sha256Hex(installed), left };
}

/** Forgets what a device has installed. */
export async function forget(world: ArtifactWorld, device = "device"): Promise<void> {
  await Deno.remove(`${world.directory}/${device}`, { recursive: true }).catch(() => {});
}
