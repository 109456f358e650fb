/**
 * Reads a frozen plan back.
 *
 * @module
 */
import { BUCKETS, documentMaxBytes, runKey } from "../../contracts/buckets.ts";
import { decodeBytes } from "../../contracts/codec.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { PLAN_CHUNKS_AT_ONCE } from "../../contracts/limits.ts";
import { type TaskPlanManifest, taskPlanManifest } from "../../contracts/task_plan.ts";
import type { KvBucket } from "../../lib/bus/port.ts";
import { planLost, PlanReader, type TaskPlan } from "../policy/task_plan_documents.ts";

/**
 * Reads the manifest of a run; null when there is none.
 *
 * @throws {FleetError} `E_TASK_PLAN_LOST` when it cannot be read; as the bucket does
 */
export async function loadManifest(plans: KvBucket, runId: string): Promise<TaskPlanManifest | null> {
  const entry = await plans.get(runKey(runId));
  if (entry === null) return null;
  try {
    const manifest = decodeBytes(taskPlanManifest, entry.value, documentMaxBytes(BUCKETS.taskPlan));
    if (manifest.runId === runId) return manifest;
    throw planLost("the manifest is of another run");
  } catch (error) {
    if (!isFleetError(error, "E_DECODE")) throw error;
    throw planLost(`the manifest: ${error.message}`);
  }
}

/**
 * Reads the plan of a run; null when there is none.
 *
 * @param plans The bucket `task-plan`
 * @param runId UID of the run
 * @param share Makes equal ids one text in memory
 * @throws {FleetError} `E_TASK_PLAN_LOST` when it cannot be read back whole; as the bucket does
 */
export async function loadPlan(
  plans: KvBucket,
  runId: string,
  share?: (deviceId: string) => string,
): Promise<TaskPlan | null> {
  const manifest = await loadManifest(plans, runId);
  if (manifest === null) return null;
  const reader = new PlanReader(manifest);
  const { keys } = reader;
  for (let from = 0; from < keys.length; from += PLAN_CHUNKS_AT_ONCE) {
    const entries = await Promise.all(keys.slice(from, from + PLAN_CHUNKS_AT_ONCE).map((key) => plans.get(key)));
    for (const entry of entries) reader.add(entry?.value ?? null, share);
  }
  return reader.plan();
}
