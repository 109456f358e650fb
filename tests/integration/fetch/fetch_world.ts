/**
 * A host with real TLS, and a device that fetches from it.
 *
 * @module
 */
import { FleetError } from "../../../contracts/errors.ts";
import type { FetchBounds } from "../../../lib/fetch/fetch_run.ts";
import { httpsFetcher } from "../../../lib/fetch/https_fetcher.ts";
import { type ArtifactHost, startArtifactHost } from "../../tls/artifact_host.ts";
import { createTestAuthority, type TestAuthority } from "../../tls/test_authority.ts";

/** Limit of most fetches. */
export const MAX_BYTES = 300_000;
/** What is fetched. */
export const BYTES = crypto.getRandomValues(new Uint8Array(65_000));
/** Bounds that no test of this file is meant to reach. */
export const CALM: FetchBounds = { resumeMinMs: 1, resumeMaxMs: 1 };

/** An authority, a host with its certificate, and the file that a device trusts. */
export interface World {
  readonly authority: TestAuthority;
  readonly host: ArtifactHost;
  readonly caFile: string;
}

/** What came, and how it ended. */
export interface Fetched {
  readonly bytes: Uint8Array;
  readonly error: FleetError | undefined;
}

/** How it is fetched. */
export interface FetchOptions {
  readonly bounds?: FetchBounds;
  readonly maxBytes?: number;
  readonly offsetBytes?: number;
  readonly signal?: AbortSignal;
  readonly caFile?: string;
}

/** Everything that a fetch yields, and how it ended. */
export async function fetchAll(
  world: Pick<World, "caFile">,
  url: string,
  options: FetchOptions = {},
): Promise<Fetched> {
  const { maxBytes = MAX_BYTES, offsetBytes, signal = new AbortController().signal } = options;
  const bounds = { ...CALM, ...options.bounds };
  const fetcher = httpsFetcher({ caFile: options.caFile ?? world.caFile, bounds });
  const chunks: Uint8Array[] = [];
  let error: FleetError | undefined;
  const request = { url, maxBytes, sha256: "", ...(offsetBytes === undefined ? {} : { offsetBytes }) };
  try {
    for await (const chunk of fetcher.fetch(request, signal)) chunks.push(chunk.slice());
  } catch (thrown) {
    if (!(thrown instanceof FleetError)) throw thrown;
    error = thrown;
  }
  return { bytes: new Uint8Array(await new Blob(chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer()), error };
}

/** How a fetch ended, in words. */
export function verdict({ error }: Fetched): string {
  return error === undefined ? "fetched" : `${error.code} ${error.failureClass}`;
}

/** Body bytes of the first request. */
export function bytesSent(host: ArtifactHost): number {
  return host.requests[0]?.bodyBytesSent ?? 0;
}

/** Runs a test in a world of its own. */
export async function withWorld(test: (world: World) => Promise<void>): Promise<void> {
  const authority = await createTestAuthority();
  const caFile = await Deno.makeTempFile({ prefix: "fleet-ca-", suffix: ".pem" });
  await Deno.writeTextFile(caFile, authority.caCert);
  try {
    await using host = startArtifactHost({ certificate: await authority.issue() });
    await test({ authority, host, caFile });
  } finally {
    await Deno.remove(caFile);
  }
}
