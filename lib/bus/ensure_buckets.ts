/**
 * Makes the buckets what they must be.
 *
 * @module
 */
import { bucketMaxBytes, type BucketSpec } from "../../contracts/buckets.ts";
import { API_PREFIX, keySubject, streamName } from "../../contracts/subjects.ts";
import { API_ERROR, apiError, busError } from "./bus_error.ts";
import { answerError, type BusCore } from "./bus_core.ts";

/** The configuration of a bucket's stream, as the server names its members. */
export type StreamConfig = Readonly<Record<string, unknown>>;

/**
 * The stream of a bucket.
 *
 * Roll-ups are off: with them, one header on a write that a device may make would erase the whole bucket.
 *
 * @param spec The bucket
 * @param fleetSize Devices that `max_bytes` is made for
 * @param replicas Copies
 */
export function bucketStreamConfig(spec: BucketSpec, fleetSize: number, replicas: number): StreamConfig {
  return {
    name: streamName(spec.name),
    subjects: [keySubject(spec.name, ">")],
    retention: "limits",
    storage: spec.storage,
    num_replicas: replicas,
    max_msgs_per_subject: 1,
    max_bytes: bucketMaxBytes(spec, fleetSize),
    max_msg_size: spec.maxValueBytes,
    max_msgs: -1,
    // In ns; 0 is for ever.
    max_age: (spec.maxAgeS ?? 0) * 1e9,
    max_consumers: -1,
    discard: "new",
    allow_direct: true,
    allow_rollup_hdrs: false,
    deny_delete: true,
  };
}

/** What the server refuses to change, or what would lose data when changed. */
const FIXED_MEMBERS = ["storage", "retention", "max_consumers", "deny_delete"] as const;

/**
 * Compares a stream with what it must be.
 *
 * @param have Configuration of the existing stream
 * @param want Configuration that it must have
 * @returns names of the members that differ, and of those that cannot change
 */
export function compareStreamConfig(
  have: StreamConfig,
  want: StreamConfig,
): { readonly changed: string[]; readonly fixed: string[] } {
  const differs = (member: string) => JSON.stringify(normal(have[member])) !== JSON.stringify(normal(want[member]));
  const all = Object.keys(want).filter(differs);
  const fixed = all.filter((member) => (FIXED_MEMBERS as readonly string[]).includes(member));
  return { changed: all.filter((member) => !fixed.includes(member)), fixed };
}

/** The server leaves out members that are false or 0. */
function normal(value: unknown): unknown {
  return value === false || value === 0 || value === undefined ? null : value;
}

/**
 * Creates missing buckets and updates existing ones. Everything is compared before anything is changed, so that a bucket
 * that cannot be made right leaves the others as they are.
 *
 * @param core The connection
 * @param specs The buckets
 * @param fleetSize Devices that `max_bytes` is made for
 * @param replicas Copies of each bucket
 * @throws {FleetError} `E_BUS_BUCKET_CONFLICT`, `E_BUS_FULL` when the server has no room for `max_bytes`
 */
export async function ensureBuckets(
  core: BusCore,
  specs: readonly BucketSpec[],
  fleetSize: number,
  replicas: number,
): Promise<void> {
  const steps: { readonly verb: "CREATE" | "UPDATE"; readonly config: StreamConfig; readonly what: string }[] = [];
  for (const spec of specs) {
    const want = bucketStreamConfig(spec, fleetSize, replicas);
    const have = await streamConfig(core, spec);
    if (have === null) {
      steps.push({ verb: "CREATE", config: want, what: `create bucket ${spec.name}` });
      continue;
    }
    const { changed, fixed } = compareStreamConfig(have, want);
    const [member] = fixed;
    if (member !== undefined) {
      const message = `Cannot use bucket ${spec.name}: its ${member} is ${JSON.stringify(have[member])}, ` +
        `want ${JSON.stringify(want[member])}, and it cannot change`;
      throw busError("E_BUS_BUCKET_CONFLICT", message);
    }
    if (changed.length === 0) continue;
    steps.push({
      verb: "UPDATE",
      config: { ...have, ...want },
      what: `update bucket ${spec.name} (${changed.join(", ")})`,
    });
  }
  for (const { verb, config, what } of steps) {
    await core.apiCall(`${API_PREFIX}.STREAM.${verb}.${String(config.name)}`, config, what);
  }
}

async function streamConfig(core: BusCore, spec: BucketSpec): Promise<StreamConfig | null> {
  const what = `read the configuration of bucket ${spec.name}`;
  const answer = await core.apiRequest(`${API_PREFIX}.STREAM.INFO.${streamName(spec.name)}`, null, what);
  const error = answerError(answer);
  if (error === null) return answer.config as StreamConfig;
  if (error.err_code === API_ERROR.streamNotFound) return null;
  throw apiError(error, what);
}
