/**
 * The newest revision under a filter.
 *
 * @module
 */
import type { BucketName } from "../../contracts/buckets.ts";
import { directGetSubject } from "./api_prefix.ts";
import type { BusCore } from "./bus_core.ts";
import { busError } from "./bus_error.ts";

/**
 * Asks for the newest message under a filter by a direct read, which takes wildcards.
 *
 * @param core The connection
 * @param bucket The bucket
 * @param filter Key filter
 * @returns its revision, deletions included; 0 when there is none
 * @throws {FleetError} as {@link BusCore.request}
 */
export async function newestRevision(core: BusCore, bucket: BucketName, filter: string): Promise<number> {
  const what = `read the newest revision of ${bucket}/${filter}`;
  const subject = directGetSubject(await core.apiPrefix(), bucket, filter);
  const { headers } = await core.request({ subject, what, isWrite: false });
  if (headers?.code === 404) return 0;
  const revision = Number(headers?.get("Nats-Sequence"));
  if (headers === undefined || headers.code !== 0 || !Number.isSafeInteger(revision) || revision <= 0) {
    throw busError("E_BUS_REJECTED", `Cannot ${what}: ${headers?.status ?? "the answer has no headers"}`);
  }
  return revision;
}
