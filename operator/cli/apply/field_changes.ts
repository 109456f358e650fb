/**
 * The difference of two specs, field by field, as a person reviews it.
 *
 * @module
 */

/** One field that differs. */
export interface FieldChange {
  /** Dotted path; artifacts are named by architecture and form, and containers by name. */
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
  // Artifacts and containers are reviewed one by one, also when they are new.
  if (from === undefined && !isReviewed(to)) return [{ path, to }];
  if (to === undefined) return [{ path, from }];
  const before = from === undefined ? new Map<string, unknown>() : members(from, path);
  const after = members(to, path);
  if (before === undefined || after === undefined) {
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ path, from, to }];
  }
  const paths = [...after.keys(), ...[...before.keys()].filter((key) => !after.has(key))];
  const order = orderChange(from, to, path);
  return [...order, ...paths.flatMap((at) => fieldChanges(before.get(at), after.get(at), at))];
}

/** Whether a new value is shown item by item: a list of items with names, and what holds one. */
function isReviewed(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) ? members(value, "") !== undefined : Object.values(value).some(isReviewed);
}

/** Containers are started in their order, so that another one is a change. */
function orderChange(from: unknown, to: unknown, path: string): FieldChange[] {
  const [before, after] = [containerNames(from), containerNames(to)];
  if (before === undefined || after === undefined) return [];
  const kept = (names: readonly string[], others: readonly string[]) => names.filter((name) => others.includes(name));
  const [left, right] = [kept(before, after), kept(after, before)];
  return left.join() === right.join() ? [] : [{ path: `${path}.order`, from: left, to: right }];
}

function containerNames(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const names = value.map((item: unknown) => isContainer(item) ? item.name : undefined);
  return names.includes(undefined) ? undefined : names as string[];
}

function isContainer(value: unknown): value is { readonly name: string; readonly image: string } {
  if (typeof value !== "object" || value === null) return false;
  const { image, name } = value as Record<string, unknown>;
  return typeof name === "string" && typeof image === "string";
}

/** What is compared one by one: members, artifacts, containers; other lists are compared as a whole. */
function members(value: unknown, path: string): Map<string, unknown> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value)) return new Map(Object.entries(value).map(([name, entry]) => [`${path}.${name}`, entry]));
  const keys = value.map(itemKey);
  if (value.length === 0 || keys.includes(undefined)) return undefined;
  return new Map(value.map((entry: unknown, index) => [`${path}[${keys[index]}]`, entry]));
}

function itemKey(value: unknown): string | undefined {
  if (isContainer(value)) return value.name;
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
