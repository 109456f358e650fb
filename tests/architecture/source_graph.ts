/**
 * The source tree as a value that rules are checked on.
 *
 * @module
 */

/** One import, type-only ones included. */
export interface ImportEdge {
  /** As written in the source. */
  readonly specifier: string;
  /** A path of the tree, or `npm:name`, `node:name` or another URL. */
  readonly target: string;
}

/** One TypeScript file. */
export interface SourceFile {
  /** Relative to the root of the repository, with `/` between the names. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly ImportEdge[];
}

/** Every TypeScript file of the tree. */
export type SourceGraph = readonly SourceFile[];

/** One breach of a rule. */
export interface Violation {
  readonly path: string;
  readonly message: string;
}

/** A rule of the tree; pure. */
export interface ArchitectureRule {
  readonly name: string;
  check(graph: SourceGraph): Violation[];
}

/** The top folders that make up the product; everything else serves to build, show or test it. */
const PRODUCT_FOLDERS = ["contracts/", "lib/", "updater/", "agent/", "operator/"];

/** Whether a file is a unit test beside its source. */
export function isTest(path: string): boolean {
  return path.endsWith("_test.ts");
}

/** Whether a file is part of what runs on devices, in the control plane, or in other tools. */
export function isProduct(path: string): boolean {
  return path === "mod.ts" || (PRODUCT_FOLDERS.some((folder) => path.startsWith(folder)) && !isTest(path));
}
