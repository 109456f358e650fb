/**
 * The frozen plan as documents and back (DESIGN 7, Plan): chunks of bounded size, and a manifest that names them by
 * digest.
 *
 * @module
 */
import { planChunkKey } from "../../contracts/buckets.ts";
import { decodeBytes } from "../../contracts/codec.ts";
import { sha256Hex } from "../../contracts/digest.ts";
import { FleetError, isFleetError } from "../../contracts/errors.ts";
import { TASK_PLAN_CHUNK_DEVICES_MAX, TASK_PLAN_MAX_BYTES } from "../../contracts/limits.ts";
import { APT_FULL_UPGRADE_V1 } from "../../contracts/system_upgrade.ts";
import {
  TASK_PLAN_SCHEMA,
  type TaskPlanChunk,
  taskPlanChunk,
  type TaskPlanManifest,
} from "../../contracts/task_plan.ts";
import type { RunTargets } from "./task_targets.ts";

/** A frozen plan. */
export interface TaskPlan {
  readonly manifest: TaskPlanManifest;
  readonly canaries: readonly string[];
  readonly others: readonly string[];
}

/** What a plan is frozen from. */
export interface PlanInput {
  readonly runId: string;
  /** The planner's own, so that two of them never write one key. */
  readonly nonce: string;
  readonly targets: RunTargets;
  /** When the plan is made, by the broker's clock, in ms. */
  readonly createdAtMs: number;
  /** The run's deadline, in ms. */
  readonly expiresAtMs: number;
}

/** A chunk as it is written. */
export interface PlanChunkDocument {
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** A plan as it is written: the chunks in any order, the manifest after them all. */
export interface PlanDocuments {
  readonly chunks: readonly PlanChunkDocument[];
  readonly manifest: TaskPlanManifest;
}

/**
 * Makes the documents of a plan.
 *
 * @param input Its targets, at least one
 */
export function planDocuments(input: PlanInput): PlanDocuments {
  const { createdAtMs, expiresAtMs, nonce, runId, targets: { canaries, incapable, others } } = input;
  const chunks: PlanChunkDocument[] = [];
  const digests: string[] = [];
  const add = (part: Pick<TaskPlanChunk, "canaries" | "others">): void => {
    const chunk: TaskPlanChunk = { schema: TASK_PLAN_SCHEMA, runId, nonce, index: chunks.length, ...part };
    const bytes = new TextEncoder().encode(JSON.stringify(chunk));
    chunks.push({ key: planChunkKey(runId, nonce, chunk.index), bytes });
    digests.push(sha256Hex(bytes));
  };
  const all = canaries.length + others.length;
  for (let from = 0; from < all; from += TASK_PLAN_CHUNK_DEVICES_MAX) {
    const to = from + TASK_PLAN_CHUNK_DEVICES_MAX;
    add({
      canaries: canaries.slice(from, to),
      others: others.slice(Math.max(0, from - canaries.length), Math.max(0, to - canaries.length)),
    });
  }
  return {
    chunks,
    manifest: {
      schema: TASK_PLAN_SCHEMA,
      runId,
      nonce,
      operation: APT_FULL_UPGRADE_V1,
      targets: all,
      canaries: canaries.length,
      incapable,
      chunks: digests,
      createdAt: new Date(createdAtMs).toISOString(),
      expiresAt: new Date(expiresAtMs).toISOString(),
    },
  };
}

/** Puts the chunks of a manifest together again, one after the other. */
export class PlanReader {
  readonly #manifest: TaskPlanManifest;
  readonly #canaries: string[] = [];
  readonly #others: string[] = [];
  #read = 0;

  /** @param manifest What the chunks must agree with */
  constructor(manifest: TaskPlanManifest) {
    this.#manifest = manifest;
  }

  /** Keys of the chunks, in the order in which they are taken. */
  get keys(): string[] {
    const { chunks, nonce, runId } = this.#manifest;
    return chunks.map((_, index) => planChunkKey(runId, nonce, index));
  }

  /**
   * Takes the next chunk.
   *
   * @param bytes What stands under its key; null for nothing
   * @param share Makes equal ids one text in memory. Default keeps them as they came
   * @throws {FleetError} `E_TASK_PLAN_LOST` when it is not the chunk that the manifest names
   */
  add(bytes: Uint8Array | null, share: (id: string) => string = (id) => id): void {
    const index = this.#read;
    if (bytes === null) throw planLost(`chunk ${index} is gone`);
    if (sha256Hex(bytes) !== this.#manifest.chunks[index]) throw planLost(`chunk ${index} has another digest`);
    let chunk: TaskPlanChunk;
    try {
      chunk = decodeBytes(taskPlanChunk, bytes, TASK_PLAN_MAX_BYTES);
    } catch (error) {
      if (isFleetError(error, "E_DECODE")) throw planLost(`chunk ${index}: ${error.message}`);
      throw error;
    }
    for (const id of chunk.canaries) this.#canaries.push(share(id));
    for (const id of chunk.others) this.#others.push(share(id));
    this.#read++;
  }

  /**
   * The plan, once all chunks were taken.
   *
   * @throws {FleetError} `E_TASK_PLAN_LOST` when the manifest counts other devices
   */
  plan(): TaskPlan {
    const { canaries, targets } = this.#manifest;
    if (this.#canaries.length !== canaries || this.#canaries.length + this.#others.length !== targets) {
      throw planLost("its chunks have other devices than the manifest counts");
    }
    return { manifest: this.#manifest, canaries: this.#canaries, others: this.#others };
  }
}

/** The error of a plan that cannot be read back whole. */
export function planLost(why: string): FleetError {
  return new FleetError(`Cannot read the frozen plan: ${why}`, { code: "E_TASK_PLAN_LOST", failureClass: "internal" });
}
