/**
 * Finds the resources that a command line names.
 *
 * @module
 */
import type { ResourceKind } from "../../../contracts/resource.ts";
import type { ResourceOf, ResourceStore } from "../../stores/port.ts";
import type { Selector } from "../invocation.ts";
import { withProgress } from "../progress.ts";
import type { CommandContext } from "./command_context.ts";
import { KIND_TERMS } from "../kind_terms.ts";
import type { FleetctlKind } from "../manifest/manifest_input.ts";
import { nearestName } from "../manifest/nearest_name.ts";

/** What is looked for. */
export interface ResourceQuery<K extends ResourceKind> {
  readonly kind: K;
  /** Empty for all. */
  readonly names: readonly string[];
  readonly selector: Selector;
}

/** What was found. */
export interface FoundResources<K extends ResourceKind> {
  readonly resources: readonly ResourceOf[K][];
  /** Names that do not exist. */
  readonly missing: readonly string[];
}

/**
 * Reads resources, in order of name, or as they are named.
 *
 * @param store The store
 * @param query What is looked for
 */
export async function findResources<K extends ResourceKind>(
  store: ResourceStore,
  query: ResourceQuery<K>,
): Promise<FoundResources<K>> {
  const { kind, names, selector } = query;
  if (names.length === 0) {
    const all = await store.list(kind);
    return { resources: all.filter((resource) => isSelected(resource, selector)), missing: [] };
  }
  const resources: ResourceOf[K][] = [];
  const missing: string[] = [];
  for (const name of new Set(names)) {
    const resource = await store.get(kind, name);
    if (resource === null) missing.push(name);
    else if (isSelected(resource, selector)) resources.push(resource);
  }
  return { resources, missing };
}

/**
 * Whether a resource has every label of a selector.
 *
 * @param resource The resource
 * @param selector The labels
 */
export function isSelected(resource: ResourceOf[ResourceKind], selector: Selector): boolean {
  const labels = resource.metadata.labels ?? {};
  return Object.entries(selector).every(([label, value]) => Object.hasOwn(labels, label) && labels[label] === value);
}

/**
 * One line for a name that does not exist, with the name that was perhaps meant.
 *
 * @param context Fleet and terminal
 * @param kind Kind of the resource
 * @param name Its name
 */
export async function missingText(context: CommandContext, kind: FleetctlKind, name: string): Promise<string> {
  const all = await withProgress(context.terminal, "looking for a name like it", () => context.fleet.store.list(kind));
  const names = all.map(({ metadata }) => metadata.name);
  const nearest = nearestName(name, names);
  return `there is no ${KIND_TERMS[kind].one} ${JSON.stringify(name)}${
    nearest === undefined ? "" : `; did you mean ${nearest}?`
  }`;
}
