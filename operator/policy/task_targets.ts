/**
 * Which devices a run is frozen on (`Fleet tasks`, Placement): authorized, selected, and with an updater that can do it.
 *
 * @module
 */
import { place, type PlacementRule } from "../../contracts/placement.ts";
import { APT_FULL_UPGRADE_V1 } from "../../contracts/system_upgrade.ts";
import { CANARY_LABEL, CANARY_VALUE } from "../../contracts/task_run.ts";

/** What planning looks at, of one device. */
export interface TargetCandidate {
  readonly id: string;
  /** Groups that authorize it now. */
  readonly groups: readonly string[];
  /** Labels of the device, `device-id` included. */
  readonly labels: Readonly<Record<string, string>>;
  /** What its updater said that it can do; absent when nothing is known of an updater. */
  readonly capabilities?: readonly string[];
}

/** What a run is to a device. */
export type TargetRole =
  /** Released first. */
  | "canary"
  | "other"
  /** It matched, and its updater cannot do it. */
  | "incapable"
  /** It did not match. */
  | "unplaced";

/** Targets of a run, each list in order of id, so that every planner makes the same of the same fleet. */
export interface RunTargets {
  readonly canaries: readonly string[];
  readonly others: readonly string[];
  /** Devices that matched, and whose updater cannot do it. */
  readonly incapable: number;
}

/**
 * Whether an updater can upgrade the system.
 *
 * @param capabilities What it said that it can do
 */
export function canUpgradeSystem(capabilities: readonly string[] | undefined): boolean {
  return capabilities?.includes(APT_FULL_UPGRADE_V1) ?? false;
}

/**
 * What a run is to one device.
 *
 * @param rule Who may be placed
 * @param device The device
 */
export function targetRole(rule: PlacementRule, device: TargetCandidate): TargetRole {
  if (!place(rule, device).placed) return "unplaced";
  if (!canUpgradeSystem(device.capabilities)) return "incapable";
  return Object.hasOwn(device.labels, CANARY_LABEL) && device.labels[CANARY_LABEL] === CANARY_VALUE
    ? "canary"
    : "other";
}

/** Gathers the targets of a run, device by device, so that a fleet need not be held twice. */
export class TargetCollector {
  readonly #rule: PlacementRule;
  readonly #canaries: string[] = [];
  readonly #others: string[] = [];
  #incapable = 0;

  /** @param rule Who may be placed */
  constructor(rule: PlacementRule) {
    this.#rule = rule;
  }

  /** Takes a device. */
  add(device: TargetCandidate): void {
    const role = targetRole(this.#rule, device);
    if (role === "canary") this.#canaries.push(device.id);
    else if (role === "other") this.#others.push(device.id);
    else if (role === "incapable") this.#incapable++;
  }

  /** The targets so far. */
  targets(): RunTargets {
    return { canaries: this.#canaries.sort(), others: this.#others.sort(), incapable: this.#incapable };
  }
}
