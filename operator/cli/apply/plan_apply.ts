/**
 * Decides what applying a document does to the resource that is stored.
 *
 * @module
 */
import type { ResourceKind } from "../../../contracts/resource.ts";
import type { ResourceInput, ResourceOf } from "../../stores/port.ts";
import { RESOURCE_RULES } from "../../stores/resource_rules.ts";
import type { FleetctlKind, ManifestInput } from "../manifest/manifest_input.ts";
import { KIND_TERMS } from "../kind_terms.ts";
import { type FieldChange, fieldChanges } from "./field_changes.ts";

/** The document of a kind. */
export type InputOf<K extends FleetctlKind> = Extract<ManifestInput, { kind: K }>;

/** What applying does. */
export type ApplyPlan<K extends ResourceKind> =
  | { readonly action: "create"; readonly wanted: ResourceInput<K>; readonly changes: readonly FieldChange[] }
  | {
    readonly action: "configure";
    readonly wanted: ResourceInput<K>;
    readonly resourceVersion: string;
    readonly changes: readonly FieldChange[];
  }
  | { readonly action: "unchanged"; readonly wanted: ResourceInput<K> }
  /** The document was read from another state of the resource. */
  | { readonly action: "conflict"; readonly why: string };

/**
 * Plans a document of any kind.
 *
 * @param input The document
 * @param stored The resource as it is stored, or null
 */
export function planApply<K extends FleetctlKind>(
  kind: K,
  input: InputOf<K>,
  stored: ResourceOf[K] | null,
): ApplyPlan<K> {
  // A document of a resource that is gone creates it again: that is how a backup is restored.
  const why = stored === null ? undefined : preconditionProblem(input, stored);
  if (why !== undefined) return { action: "conflict", why };
  const labels = {
    ...(input.labels ?? stored?.metadata.labels),
    ...RESOURCE_RULES[kind].forcedLabels(input.name),
  };
  const wanted = { name: input.name, labels, spec: wantedSpec(input, stored) } as ResourceInput<K>;
  const changes = [
    ...fieldChanges(stored?.metadata.labels ?? {}, labels, "metadata.labels"),
    ...fieldChanges(stored?.spec ?? {}, wanted.spec, "spec"),
  ];
  if (stored === null) return { action: "create", wanted, changes };
  if (changes.length === 0) return { action: "unchanged", wanted };
  const { immutable } = RESOURCE_RULES[kind];
  if (immutable !== undefined && changes.some(({ path }) => path === "spec" || path.startsWith("spec."))) {
    return { action: "conflict", why: immutable };
  }
  return { action: "configure", wanted, resourceVersion: stored.metadata.resourceVersion, changes };
}

/** `revision` and `paused` are set by `fleetctl release` too: a document that leaves them out leaves them alone. */
function wantedSpec(input: ManifestInput, stored: ResourceOf[ResourceKind] | null): unknown {
  if (input.kind !== "AgentRelease") return input.spec;
  const kept = stored?.kind === "AgentRelease" ? stored.spec : { revision: 1, paused: false };
  return {
    ...input.spec,
    revision: input.spec.revision ?? kept.revision,
    paused: input.spec.paused ?? kept.paused,
  };
}

function preconditionProblem(input: ManifestInput, stored: ResourceOf[ResourceKind]): string | undefined {
  const { uid, generation, resourceVersion } = stored.metadata;
  if (input.uid !== undefined && input.uid !== uid) {
    return "the resource that the document was read from is deleted, and another one has its name";
  }
  if (input.generation !== undefined) {
    return input.generation === generation
      ? undefined
      : `the document was read at generation ${input.generation}, and the resource is at ${generation}`;
  }
  return input.resourceVersion === undefined || input.resourceVersion === resourceVersion
    ? undefined
    : "the resource was changed since the document was read";
}

/**
 * What a person should think about before a change, a line each.
 *
 * @param input The document
 * @param stored The resource as it is stored, or null
 */
export function applyWarnings(input: ManifestInput, stored: ResourceOf[ResourceKind] | null): string[] {
  if (input.kind === "Device") return [];
  const warnings: string[] = [];
  if (input.spec.targetSelector.matchExpressions !== undefined) {
    const what = `the ${KIND_TERMS[input.kind].one} is placed on no device`;
    warnings.push(`targetSelector.matchExpressions is not supported: ${what}`);
  }
  if (input.kind !== "AgentRelease" || stored?.kind !== "AgentRelease") return warnings;
  const { revision } = input.spec;
  if (revision !== undefined && revision < stored.spec.revision) {
    warnings.push(
      `spec.revision goes back from ${stored.spec.revision} to ${revision}: what failed under it is not tried again; ` +
        "leave it out of the document to keep what 'fleetctl release retry' has set",
    );
  }
  return warnings;
}
