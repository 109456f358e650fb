/**
 * Finds circular imports.
 *
 * @module
 */

import type { SourceGraph } from "./source_graph.ts";

/** One cycle for every back edge of a depth-first walk: none if and only if the graph has no cycle. */
export function findImportCycles(graph: SourceGraph): string[][] {
  const targets = new Map(graph.map((file) => [file.path, file.imports.map((edge) => edge.target)]));
  const done = new Set<string>();
  const trail: string[] = [];
  const cycles: string[][] = [];

  const visit = (path: string): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      cycles.push(trail.slice(start));
      return;
    }
    if (done.has(path)) return;
    trail.push(path);
    for (const target of new Set(targets.get(path) ?? [])) visit(target);
    trail.pop();
    done.add(path);
  };

  for (const { path } of graph) visit(path);
  return cycles;
}
