/**
 * Conditions of a resource, as Kubernetes has them: a condition keeps its time while its status stays.
 *
 * @module
 */
import type { Condition } from "../../contracts/resource.ts";
import { bounded } from "../../contracts/formats.ts";

/** A condition as a policy states it. */
export interface ConditionInput {
  readonly type: string;
  readonly status: Condition["status"];
  readonly reason: string;
  readonly message: string;
}

/**
 * The next conditions: those that are stated now, in their order. Ones that are stated no more are gone.
 *
 * @param previous What was written last
 * @param stated What holds now
 * @param nowMs When, in ms since the epoch
 * @param generation Generation of the spec that was looked at
 */
export function nextConditions(
  previous: readonly Condition[] | undefined,
  stated: readonly ConditionInput[],
  nowMs: number,
  generation: number,
): Condition[] {
  return stated.map(({ type, status, reason, message }) => {
    const before = previous?.find((condition) => condition.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : new Date(nowMs).toISOString();
    return { type, status, reason, message: bounded(message), lastTransitionTime, observedGeneration: generation };
  });
}
