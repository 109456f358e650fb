/**
 * Under which prefix a program finds the JetStream API.
 *
 * @module
 */
import { type BucketName, BUCKETS, deviceKey } from "../../contracts/buckets.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { API_PREFIX, DEVICE_API_PREFIX, keySubject, streamName } from "../../contracts/subjects.ts";

/**
 * Subject of a read of one key.
 *
 * @param apiPrefix Prefix of the API
 * @param bucket The bucket
 * @param key The key
 */
export function directGetSubject(apiPrefix: string, bucket: BucketName, key: string): string {
  return `${apiPrefix}.DIRECT.GET.${streamName(bucket)}.${keySubject(bucket, key)}`;
}

/** Sends a request, as `BusCore.request` does. */
type SendRequest = (request: { subject: string; what: string; isWrite: false }) => Promise<unknown>;

/**
 * Finds it. Devices are in an account that imports a part of the API under a prefix of its own; a development server
 * without accounts has the plain one only. A device tells them apart by reading its own device info.
 *
 * @param deviceId The device, or undefined for a program that may use all buckets
 * @param send Sends a request
 * @returns null when neither answers, since the bucket is not there yet
 * @throws {FleetError} as `send`, but for a missing bucket and a refused read
 */
export async function findApiPrefix(deviceId: string | undefined, send: SendRequest): Promise<string | null> {
  if (deviceId === undefined) return API_PREFIX;
  for (const prefix of [DEVICE_API_PREFIX, API_PREFIX]) {
    const subject = directGetSubject(prefix, BUCKETS.deviceInfo, deviceKey(deviceId));
    try {
      await send({ subject, what: "find the JetStream API", isWrite: false });
      return prefix;
    } catch (error) {
      if (!isFleetError(error, "E_BUS_NO_BUCKET") && !isFleetError(error, "E_BUS_AUTH")) throw error;
    }
  }
  return null;
}
