/**
 * The condition that says whether the operator understands the spec of a placed resource.
 *
 * @module
 */
import type { PlacementRule } from "../../contracts/placement.ts";
import type { ConditionInput } from "./conditions.ts";

/**
 * The condition `Accepted`.
 *
 * @param rule Where the resource is placed
 * @param what What the resource is, for the message
 */
export function acceptedCondition(
  { targetSelector }: Pick<PlacementRule, "targetSelector">,
  what: string,
): ConditionInput {
  if (targetSelector.matchExpressions === undefined) {
    return { type: "Accepted", status: "True", reason: "Accepted", message: "the spec is understood" };
  }
  return {
    type: "Accepted",
    status: "False",
    reason: "MatchExpressionsUnsupported",
    message: `targetSelector.matchExpressions is not supported: the ${what} is placed on no device`,
  };
}
