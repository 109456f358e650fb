/**
 * Resources as JSON, YAML and names. The shapes are stable: scripts depend on them.
 *
 * @module
 */
import { API_VERSION, type ResourceKind } from "../../../contracts/resource.ts";
import type { ResourceOf } from "../../stores/port.ts";
import { printableJson } from "./printable.ts";
import { yamlText } from "./yaml_text.ts";

/**
 * One resource as JSON when it was asked for by name, else a list: `{apiVersion, kind: "DeviceList", items}`.
 *
 * @param kind Kind of the resources
 * @param resources The resources
 * @param single Whether exactly one was asked for by name
 */
export function resourcesJson<K extends ResourceKind>(
  kind: K,
  resources: readonly ResourceOf[K][],
  single: boolean,
): string {
  const [first] = resources;
  if (single) return first === undefined ? "" : printableJson(first);
  return printableJson({ apiVersion: API_VERSION, kind: `${kind}List`, items: resources });
}

/**
 * Resources as YAML documents, which `apply` takes.
 *
 * @param resources The resources
 */
export function resourcesYaml(resources: readonly ResourceOf[ResourceKind][]): string {
  return resources.map(yamlText).join("---\n");
}

/**
 * `device/NAME` or `agentrelease/NAME`, a line each, as other commands take them.
 *
 * @param kind Kind of the resources
 * @param names Their names
 */
export function resourceNames(kind: ResourceKind, names: readonly string[]): string {
  return names.map((name) => `${resourceName(kind, name)}\n`).join("");
}

/** `device/NAME` or `agentrelease/NAME`. */
export function resourceName(kind: ResourceKind, name: string): string {
  return `${kind.toLowerCase()}/${name}`;
}
