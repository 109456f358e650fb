/**
 * Reads what stands in the buckets of a run: its frozen plan, its intents, and what devices say.
 *
 * @module
 */
import { BUCKETS, runFilter, splitSystemUpgradeKey } from "../../../contracts/buckets.ts";
import { errorText, isFleetError } from "../../../contracts/errors.ts";
import { SYSTEM_STATUS_MAX_BYTES } from "../../../contracts/limits.ts";
import { systemUpgradeStatus } from "../../../contracts/system_upgrade.ts";
import type { Bus } from "../../../lib/bus/port.ts";
import { snapshotMap } from "../../../lib/bus/snapshot_map.ts";
import type { TaskPlan } from "../../policy/task_plan_documents.ts";
import { loadPlan } from "../../tasks/load_plan.ts";
import type { TaskOnDevices, TaskTargetDocuments } from "../fleet_access.ts";
import { readReported } from "./read_reported.ts";

/**
 * Reads a run.
 *
 * @param bus The connection
 * @param runId UID of the run
 * @throws {FleetError} as the buckets do
 */
export async function readTask(bus: Pick<Bus, "bucket">, runId: string): Promise<TaskOnDevices> {
  let plan: TaskPlan | null = null;
  let problem: string | undefined;
  try {
    plan = await loadPlan(await bus.bucket(BUCKETS.taskPlan), runId);
  } catch (error) {
    if (!isFleetError(error, "E_TASK_PLAN_LOST")) throw error;
    problem = errorText(error);
  }
  const intents = await snapshotMap(await bus.bucket(BUCKETS.systemUpgradeIntent), runFilter(runId));
  const statuses = await snapshotMap(await bus.bucket(BUCKETS.systemUpgradeStatus), runFilter(runId));
  const found = new Map<string, TaskTargetDocuments>();
  for (const key of new Set([...intents.keys(), ...statuses.keys()])) {
    const deviceId = splitSystemUpgradeKey(key)?.deviceId;
    if (deviceId === undefined) continue;
    const entry = statuses.get(key);
    found.set(deviceId, {
      hasIntent: intents.has(key),
      status: entry === undefined
        ? { kind: "absent" }
        : readReported(entry, systemUpgradeStatus, SYSTEM_STATUS_MAX_BYTES),
    });
  }
  return { plan, found, ...(problem === undefined ? {} : { problem }) };
}
