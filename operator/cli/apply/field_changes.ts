/**
 * The difference of two specs, field by field, as a person reviews it.
 *
 * @module
 */

/** One field that differs. */
export interface FieldChange {
  /** Dotted path; artifacts are named by architecture and form, since their order means nothing. */
  readonly path: string;
  /** Absent for a field that is added. */
  readonly from?: unknown;
  /** Absent for a field that is removed. */
  readonly to?: unknown;
}

/**
 * Lists the fields that differ between two JSON values, in the order of the second, then those that only the first has.
 *
 * @param from What stands now; undefined for nothing
 * @param to What shall stand
 * @param path Dotted path where the values stand
 */
export function fieldChanges(from: unknown, to: unknown, path: string): FieldChange[] {
  if (from === undefined && to === undefined) return [];
  // A list of artifacts is reviewed one by one, also when it is new.
  if (from === undefined && !(Array.isArray(to) && members(to, path) !== undefined)) return [{ path, to }];
  if (to === undefined) return [{ path, from }];
  const before = from === undefined ? new Map<string, unknown>() : members(from, path);
  const after = members(to, path);
  if (before === undefined || after === undefined) {
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ path, from, to }];
  }
  const paths = [...after.keys(), ...[...before.keys()].filter((key) => !after.has(key))];
  return paths.flatMap((at) => fieldChanges(before.get(at), after.get(at), at));
}

/** What is compared one by one: members of an object, and artifacts of a list; other lists are compared as a whole. */
function members(value: unknown, path: string): Map<string, unknown> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value)) return new Map(Object.entries(value).map(([name, entry]) => [`${path}.${name}`, entry]));
  const keys = value.map(artifactKey);
  if (value.length === 0 || keys.includes(undefined)) return undefined;
  return new Map(value.map((entry: unknown, index) => [`${path}[${keys[index]}]`, entry]));
}

function artifactKey(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { arch, form } = value as Record<string, unknown>;
  return typeof arch === "string" && typeof form === "string" ? `${arch}/${form}` : undefined;
}

/**
 * One line for a change: `spec.version: "1.4.0" -> "1.5.0"`, `+ path: value`, `- path: value`.
 *
 * @param change The change
 */
export function fieldChangeText({ path, from, to }: FieldChange): string {
  if (from === undefined) return `+ ${path}: ${JSON.stringify(to)}`;
  if (to === undefined) return `- ${path}: ${JSON.stringify(from)}`;
  return `~ ${path}: ${JSON.stringify(from)} -> ${JSON.stringify(to)}`;
}
