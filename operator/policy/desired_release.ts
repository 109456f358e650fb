/**
 * Which release decides for a device (DESIGN 3): among those that place it, the one of highest priority. A tie decides
 * nothing. A paused release takes part, so that pausing one never hands its devices to another.
 *
 * @module
 */
import type { AgentRelease } from "../../contracts/agent_release.ts";
import { TIED_RELEASES_MAX } from "../../contracts/limits.ts";
import { place, type PlacementSubject } from "../../contracts/placement.ts";

/** Which release decides for a device, or why none does. */
export type DesiredRelease =
  | { readonly kind: "release"; readonly release: AgentRelease }
  /** Names in order, at most {@link TIED_RELEASES_MAX} of them. */
  | { readonly kind: "tie"; readonly names: readonly string[]; readonly priority: number }
  /** The release that decided stands in the store and cannot be read. */
  | { readonly kind: "unreadable"; readonly name: string }
  | { readonly kind: "none"; readonly reason: "NoGroups" | "NoRelease" };

/**
 * Selects the release that decides for a device. Costs one look at each release.
 *
 * @param releases All releases, in any order
 * @param subject The device's groups and labels
 */
export function selectRelease(
  releases: Iterable<AgentRelease>,
  subject: PlacementSubject,
): Exclude<DesiredRelease, { kind: "unreadable" }> {
  // Without a group no release can place the device, whatever it selects.
  if (subject.groups.length === 0) return { kind: "none", reason: "NoGroups" };
  let best: AgentRelease | undefined;
  let tied: string[] = [];
  for (const release of releases) {
    const lead = best === undefined ? 1 : release.spec.priority - best.spec.priority;
    if (lead < 0 || !place(release.spec, subject).placed) continue;
    if (lead > 0) tied = [];
    tied.push(release.metadata.name);
    best = release;
  }
  if (best === undefined) return { kind: "none", reason: "NoRelease" };
  if (tied.length === 1) return { kind: "release", release: best };
  return { kind: "tie", names: tied.sort().slice(0, TIED_RELEASES_MAX), priority: best.spec.priority };
}
