/**
 * The frozen plan of a run: chunks under the planner's own nonce first, the manifest last by create; that the manifest is
 * there is the freeze (DESIGN 7, Plan). And the record that stays of an ended run.
 *
 * @module
 */
import { type Decoded, decodeError, type Decoder, integer, list, object, oneOf, optional, refined } from "./codec.ts";
import { detail, deviceId, instant, resourceName, sha256Hex, shortText, uuid } from "./formats.ts";
import { FLEET_SIZE_MAX, TASK_PLAN_CHUNK_DEVICES_MAX, TASK_PLAN_CHUNKS_MAX } from "./limits.ts";
import { TASK_RUN_PHASES, TASK_RUN_REASONS, taskRunSpec } from "./task_run.ts";

/** Schema version of the documents of this file. */
export const TASK_PLAN_SCHEMA = 1;

/** Decodes a chunk: some of the devices, each in the wave that it is in for good. */
export const taskPlanChunk = object({
  schema: integer(1),
  /** UID of the run. */
  runId: uuid,
  /** Nonce of the planner that wrote it. */
  nonce: uuid,
  /** Counts from 0. */
  index: integer(0, TASK_PLAN_CHUNKS_MAX - 1),
  /** Devices that are released first. */
  canaries: list(deviceId, TASK_PLAN_CHUNK_DEVICES_MAX),
  /** All other devices. */
  others: list(deviceId, TASK_PLAN_CHUNK_DEVICES_MAX),
});
/** A chunk of a plan. */
export type TaskPlanChunk = Decoded<typeof taskPlanChunk>;

/** Decodes the members of a manifest, without the rules between them. */
export const taskPlanManifestShape = object({
  schema: integer(1),
  /** UID of the run. */
  runId: uuid,
  /** Whose chunks count; those of every other planner are ignored, and expire. */
  nonce: uuid,
  operation: shortText,
  /** Devices of the plan, canaries included. */
  targets: integer(1, FLEET_SIZE_MAX),
  canaries: integer(0, FLEET_SIZE_MAX),
  /** Devices that matched, and that have no updater with the capability. */
  incapable: integer(0),
  /** SHA-256 over the bytes of each chunk, in order. */
  chunks: list(sha256Hex, TASK_PLAN_CHUNKS_MAX, 1),
  /** When the plan was made, by the broker's clock. */
  createdAt: instant,
  /** Creation of the run plus its deadline; every attempt of the run has it. */
  expiresAt: instant,
});
/** The manifest of a plan. */
export type TaskPlanManifest = Decoded<typeof taskPlanManifestShape>;

/** Decodes the manifest of a plan. */
export const taskPlanManifest: Decoder<TaskPlanManifest> = refined(taskPlanManifestShape, (manifest, path) => {
  if (manifest.canaries > manifest.targets) {
    const at = path === "" ? "canaries" : `${path}.canaries`;
    throw decodeError(at, `is ${manifest.canaries}, at most ${manifest.targets}, which are all targets`);
  }
  return manifest;
});

/** Decodes what stays of an ended run, also when its resource is deleted. */
export const taskHistoryRecord = object({
  schema: integer(1),
  runId: uuid,
  name: resourceName,
  spec: taskRunSpec,
  phase: oneOf(TASK_RUN_PHASES),
  reason: oneOf(TASK_RUN_REASONS),
  targets: integer(0),
  canaries: integer(0),
  released: integer(0),
  succeeded: integer(0),
  failed: integer(0),
  incapable: integer(0),
  /** Results that came after the run had ended; they changed nothing. */
  lateSucceeded: integer(0),
  lateFailed: integer(0),
  createdAt: instant,
  startedAt: optional(instant),
  expiresAt: instant,
  completedAt: instant,
  lastError: optional(detail),
});
/** What stays of an ended run. */
export type TaskHistoryRecord = Decoded<typeof taskHistoryRecord>;
