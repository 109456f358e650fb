/**
 * What a run would do, by the operator's own rules: its targets, who goes first, who is away, and who is left out.
 *
 * @module
 */
import type { Device } from "../../../contracts/device_resource.ts";
import { labelsMatch } from "../../../contracts/placement.ts";
import type { TaskRunSpec } from "../../../contracts/task_run.ts";
import { TargetCollector } from "../../policy/task_targets.ts";

/** What a run would do. */
export interface RunPreview {
  readonly targets: number;
  readonly canaries: number;
  /** Targets of which the broker has no recent heartbeat. */
  readonly offline: number;
  /** Devices that match, and whose updater cannot do it: no targets. */
  readonly incapable: number;
  /** Devices that have the labels and are in no allowed group: no targets. */
  readonly unauthorized: number;
  readonly deadlineSeconds: number;
  /** Ids of all targets, canaries first. */
  readonly devices: readonly string[];
  /** Where the groups are taken from that were counted with; an operator may be told to take them from elsewhere. */
  readonly groupsFrom: "Device.spec.groups";
}

/**
 * Previews a run.
 *
 * @param spec Its spec
 * @param devices All devices
 */
export function previewRun(spec: TaskRunSpec, devices: Iterable<Device>): RunPreview {
  const collector = new TargetCollector(spec);
  const online = new Set<string>();
  let unauthorized = 0;
  for (const { metadata: { labels = {}, name: id }, spec: { groups }, status } of devices) {
    if (spec.targetSelector.matchExpressions !== undefined || !labelsMatch(spec.targetSelector, labels)) continue;
    if (!spec.allowedGroups.some((group) => groups.includes(group))) unauthorized++;
    const { capabilities, liveness } = status ?? {};
    if (liveness === "Online") online.add(id);
    collector.add({ id, groups, labels, ...(capabilities === undefined ? {} : { capabilities }) });
  }
  const { canaries, incapable, others } = collector.targets();
  const targets = [...canaries, ...others];
  return {
    targets: targets.length,
    canaries: canaries.length,
    offline: targets.filter((id) => !online.has(id)).length,
    incapable,
    unauthorized,
    deadlineSeconds: spec.deadlineSeconds,
    devices: targets,
    groupsFrom: "Device.spec.groups",
  };
}
