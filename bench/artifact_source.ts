/**
 * The largest artifact on a server of its own, over TLS of the loopback interface: as a file, and in a registry.
 *
 * @module
 */
import { join } from "node:path";
import { type ArtifactFile, artifactFile } from "./artifact_file.ts";
import { startLineServer } from "./line_server.ts";

/** Where an artifact is. */
export interface ArtifactSource {
  readonly artifact: ArtifactFile;
  readonly caFile: string;
  /** As a file. */
  readonly url: string;
  /** In a registry. */
  readonly reference: string;
}

/**
 * Starts the server, which ends with this process.
 *
 * @param directory Where the artifact and the authority's certificate are
 */
export async function startArtifactSource(directory: string): Promise<ArtifactSource> {
  const artifact = await artifactFile(directory);
  const caFile = join(directory, "ca.pem");
  const program = new URL("artifact_server.ts", import.meta.url).pathname;
  const args = ["run", "--quiet", "--no-check", "--allow-all", program, artifact.path, caFile];
  const { url, reference }: { url: string; reference: string } = JSON.parse(
    await startLineServer(Deno.execPath(), args).readLine(),
  );
  return { artifact, caFile, url, reference };
}
