/**
 * What the parts that work on runs share.
 *
 * @module
 */
import type { BucketName } from "../../contracts/buckets.ts";
import { FleetError } from "../../contracts/errors.ts";
import type { KvBucket } from "../../lib/bus/port.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import type { GroupSource } from "../groups/port.ts";
import type { FleetView } from "../reconcile/fleet_view.ts";
import type { WatchedTime } from "../runtime/broker_time.ts";
import type { ResourceStore } from "../stores/port.ts";
import type { IntentIndex } from "./intent_index.ts";
import type { RunView } from "./run_view.ts";
import type { TaskWrites } from "./task_writes.ts";

/** What the parts that work on runs share. */
export interface TaskContext {
  readonly fleet: FleetView;
  readonly runs: RunView;
  readonly intents: IntentIndex;
  readonly store: Pick<ResourceStore, "get" | "list">;
  readonly bucket: (name: BucketName) => Promise<KvBucket>;
  readonly writes: TaskWrites;
  readonly groups: GroupSource;
  readonly time: Pick<WatchedTime, "nowMs">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly retry: { readonly minMs: number; readonly maxMs: number };
  /** How long something that is missing may only not be there yet, in ms. */
  readonly settleMs: number;
  /** Looks at a run as soon as possible. */
  readonly look: (runId: string) => void;
}

/** The error of a group source that cannot say who is authorized; planning and release are tried again. */
export const GROUPS_UNKNOWN = "E_TASK_GROUPS_UNKNOWN";

/**
 * The groups that authorize a device now; null for one that is not there any more.
 *
 * @throws {FleetError} {@link GROUPS_UNKNOWN} when that cannot be known, whatever the cause
 */
export async function groupsNow(
  { fleet, groups }: Pick<TaskContext, "fleet" | "groups">,
  deviceId: string,
): Promise<readonly string[] | null> {
  const record = fleet.device(deviceId);
  const problem = record?.deviceProblem ?? null;
  if (problem !== null) throw groupsUnknown(deviceId, new Error(problem));
  const device = record?.device ?? null;
  if (device === null) return null;
  try {
    return await groups.groupsOf(device);
  } catch (error) {
    throw groupsUnknown(deviceId, error);
  }
}

function groupsUnknown(deviceId: string, cause: unknown): FleetError {
  return new FleetError(`Cannot know the groups of ${deviceId}`, {
    code: GROUPS_UNKNOWN,
    retry: "transient",
    failureClass: "environment",
    cause,
  });
}
