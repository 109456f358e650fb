/**
 * Labels as a person writes them.
 *
 * @module
 */

/** `a=b, c=d`; empty for no labels. */
export function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels).map(([label, value]) => `${label}=${value}`).join(", ");
}

/** ` -l a=b -l c=d`, to stand behind a command; empty for no labels. */
export function selectorFlags(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels).map(([label, value]) => ` -l ${label}=${value}`).join("");
}
