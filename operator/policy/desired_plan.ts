/**
 * What a device is told to run, and what must be written for it. Pure; the reconciler gathers before and applies after.
 *
 * Rules: entries first, the generation that counts them last; what is not known to be gone is not removed. A resource
 * store that was lost or restored looks as if every deployment had been deleted, and must not stop a fleet's workloads
 * (DESIGN 4, of the device's bucket): an entry goes only if its deployment is there and does not place the device, or
 * if its deletion was seen, or if another deployment has taken its name. For the same reason a device gets its first
 * generation, which lets it remove all else, only while nothing speaks of a loss of both.
 *
 * @module
 */
import type { FleetDeploymentSpec } from "../../contracts/fleet_deployment.ts";
import { DESIRED_ENTRIES_MAX } from "../../contracts/limits.ts";
import { place, type PlacementSubject } from "../../contracts/placement.ts";

/** A deployment, as far as it is looked at here. */
export interface PlacedDeployment {
  readonly uid: string;
  readonly name: string;
  readonly generation: number;
  readonly spec: Pick<FleetDeploymentSpec, "allowedGroups" | "targetSelector">;
  /** RFC 3339; who was first keeps its place on a device that has too many. */
  readonly creationTimestamp: string;
  /** SHA-256 of the entry that devices get of it. */
  readonly entryDigest: string;
}

/** The deployments that there are. */
export interface DeploymentFacts {
  readonly deployments: Iterable<PlacedDeployment>;
  /** The deployment of a name, if there is one that can be read. */
  named(name: string): { readonly uid: string } | undefined;
  /** Whether the deletion of the deployment of a name was seen. */
  isDeleted(name: string): boolean;
}

/** An entry that stands in the bucket. */
export interface EntryFacts {
  readonly revision: number;
  /** Null for one that cannot be read. */
  readonly name: string | null;
  /** SHA-256 of its bytes. */
  readonly digest: string;
}

/** The generation that stands in the bucket. */
export interface GenerationFacts {
  readonly revision: number;
  /** Null for one that cannot be read. */
  readonly value: { readonly generation: number; readonly entries: number } | null;
}

/** What stands in the bucket for a device; entries by the last token of their key. */
export interface HeldDesired {
  readonly entries: ReadonlyMap<string, EntryFacts>;
  readonly generation: GenerationFacts | null;
}

/** Deployments that a device reports of, by UID; their names, as far as it tells them. */
export type ReportedNames = ReadonlyMap<string, { readonly name?: string }>;

/** One entry to write over a revision; null for none. */
export interface EntryPut {
  readonly deployment: PlacedDeployment;
  readonly revision: number | null;
}

/** One entry to delete. */
export interface EntryDelete {
  readonly token: string;
  readonly revision: number;
  /** Name of its deployment; null where the entry cannot be read. */
  readonly name: string | null;
}

/** What is to be done about the entries of a device. */
export interface DesiredPlan {
  readonly puts: readonly EntryPut[];
  readonly deletes: readonly EntryDelete[];
  /** Deployments that place the device, and that are more than it takes. */
  readonly refused: number;
  /** Entries of deployments that nobody knows, and that stay for it. */
  readonly unknown: number;
}

/**
 * Plans the entries of a device.
 *
 * @param subject What placement looks at; null for a device that was deleted, which runs nothing
 * @param facts The deployments
 * @param held What stands in the bucket
 */
export function planEntries(
  subject: PlacementSubject | null,
  facts: DeploymentFacts,
  held: HeldDesired,
): DesiredPlan {
  const known = new Set<string>();
  const placed: PlacedDeployment[] = [];
  for (const deployment of facts.deployments) {
    known.add(deployment.uid);
    if (subject !== null && place(deployment.spec, subject).placed) placed.push(deployment);
  }
  const unknown = [...held.entries].filter(([token, { name }]) =>
    subject !== null && !known.has(token) && !isGone(name, facts)
  );
  const room = Math.max(0, DESIRED_ENTRIES_MAX - unknown.length);
  const wanted = placed.length <= room ? placed : placed.sort(byAge).slice(0, room);
  const stays = new Set([...wanted.map(({ uid }) => uid), ...unknown.map(([token]) => token)]);
  const puts: EntryPut[] = [];
  for (const deployment of wanted) {
    const entry = held.entries.get(deployment.uid);
    if (entry?.digest !== deployment.entryDigest) puts.push({ deployment, revision: entry?.revision ?? null });
  }
  const deletes = [...held.entries].flatMap(([token, { name, revision }]) =>
    stays.has(token) ? [] : [{ token, name, revision }]
  );
  return { puts, deletes, refused: placed.length - wanted.length, unknown: unknown.length };
}

/** Whether the deployment of an entry with an unknown UID is gone for good: a UID is never used again. */
function isGone(name: string | null, facts: DeploymentFacts): boolean {
  return name !== null && (facts.named(name) !== undefined || facts.isDeleted(name));
}

function byAge(a: PlacedDeployment, b: PlacedDeployment): number {
  if (a.creationTimestamp !== b.creationTimestamp) return a.creationTimestamp < b.creationTimestamp ? -1 : 1;
  return a.uid < b.uid ? -1 : 1;
}

/** What the generation of a device must say. */
export interface NextGeneration {
  readonly generation: number;
  readonly entries: number;
}

/**
 * The generation that must be written; null when the one that stands there is right.
 *
 * It is right if it counts the entries and was written after each of them. A new one is above the last and not below the
 * broker's clock in ms: after the loss of the bucket it goes on above what devices have seen.
 *
 * @param held What stands in the bucket
 * @param hasChanged Whether an entry was written or deleted for this very generation
 * @param nowMs The present by the broker's clock, in ms since the epoch
 */
export function nextGeneration(held: HeldDesired, hasChanged: boolean, nowMs: number): NextGeneration | null {
  const { entries, generation } = held;
  const last = generation?.value ?? null;
  let newestRevision = 0;
  for (const { revision } of entries.values()) newestRevision = Math.max(newestRevision, revision);
  const isRight = generation !== null && last?.entries === entries.size && generation.revision > newestRevision;
  if (isRight && !hasChanged) return null;
  return { generation: Math.max(1, Math.floor(nowMs), (last?.generation ?? 0) + 1), entries: entries.size };
}

/**
 * Whether a device may get its first generation: `wait` while it reports of deployments that nobody knows, which a fleet
 * does whose buckets were all lost; `needless` while it has nothing to run and nothing to remove.
 *
 * @param held What stands in the bucket
 * @param reports What the device reports of
 * @param facts The deployments
 */
export function firstGeneration(
  held: HeldDesired,
  reports: ReportedNames,
  facts: DeploymentFacts,
): "due" | "wait" | "needless" {
  const left = [...reports].filter(([uid]) => !held.entries.has(uid));
  if (left.length > 0) {
    const known = new Set([...facts.deployments].map(({ uid }) => uid));
    if (left.some(([uid, { name }]) => !known.has(uid) && !isGone(name ?? null, facts))) return "wait";
  }
  return held.entries.size > 0 || left.length > 0 ? "due" : "needless";
}
