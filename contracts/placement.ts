/**
 * The one rule that places releases, deployments and tasks on devices (DESIGN 3): member of at least one allowed group
 * AND every `matchLabels` pair.
 *
 * @module
 */
import { type Decoded, decodeError, type Decoder, list, object, optional } from "./codec.ts";
import { groupName, labels } from "./formats.ts";
import { GROUPS_MAX } from "./limits.ts";

const anything: Decoder<unknown> = (value) => value;

/** Decodes a selector. `matchExpressions` is kept only to know that it is there: it fails closed. */
export const targetSelector = object({ matchLabels: optional(labels), matchExpressions: optional(anything) });
/** A selector. */
export type TargetSelector = Decoded<typeof targetSelector>;

/** Decodes `allowedGroups`, which requires at least one group. */
export const allowedGroups: Decoder<string[]> = (value: unknown, path: string): string[] => {
  const names = list(groupName, GROUPS_MAX, 1)(value, path);
  if (new Set(names).size !== names.length) throw decodeError(path, "names a group twice");
  return names;
};

/** Who may be placed, as all placed kinds state it. */
export interface PlacementRule {
  /** At least one of them must authorize the device. */
  readonly allowedGroups: readonly string[];
  /** What the labels of the device must have. */
  readonly targetSelector: TargetSelector;
}

/** What placement looks at. */
export interface PlacementSubject {
  /** Groups that authorize the device now. */
  readonly groups: readonly string[];
  /** Labels of the device, `device-id` included. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Whether a device is placed, and if not, why. */
export type Placement =
  | { readonly placed: true }
  | { readonly placed: false; readonly reason: "NotInAllowedGroup" | "LabelsDiffer" | "MatchExpressionsUnsupported" };

/**
 * Places one device.
 *
 * @param rule Who may be placed
 * @param subject The device
 */
export function place(rule: PlacementRule, subject: PlacementSubject): Placement {
  // Present, even empty, fails closed: an old operator must not ignore what a newer one would obey.
  if (rule.targetSelector.matchExpressions !== undefined) {
    return { placed: false, reason: "MatchExpressionsUnsupported" };
  }
  if (!rule.allowedGroups.some((group) => subject.groups.includes(group))) {
    return { placed: false, reason: "NotInAllowedGroup" };
  }
  return labelsMatch(rule.targetSelector, subject.labels)
    ? { placed: true }
    : { placed: false, reason: "LabelsDiffer" };
}

/**
 * Whether labels have every pair of `matchLabels`; the other half of the rule are the groups.
 *
 * @param selector The selector; `matchExpressions` is not looked at
 * @param labels Labels of the device, `device-id` included
 */
export function labelsMatch({ matchLabels = {} }: TargetSelector, labels: Readonly<Record<string, string>>): boolean {
  for (const key in matchLabels) if (!Object.hasOwn(labels, key) || labels[key] !== matchLabels[key]) return false;
  return true;
}
