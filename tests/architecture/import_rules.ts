/**
 * Who may import whom.
 *
 * @module
 */

import { findImportCycles } from "./import_cycles.ts";
import {
  type ArchitectureRule,
  type ImportEdge,
  isProduct,
  isTest,
  type SourceFile,
  type SourceGraph,
  type Violation,
} from "./source_graph.ts";

/** The contracts are pure; these files alone may use the named part of the runtime, for a pure computation. */
const CONTRACTS_BUILTINS: Readonly<Record<string, readonly string[]>> = {
  "contracts/digest.ts": ["node:crypto"],
};

/** The packages that each part of the product may import (DESIGN 10); a part that is not listed may import none. */
const PACKAGES: readonly (readonly [folder: string, packages: readonly string[]])[] = [
  ["lib/bus/", ["npm:@nats-io/"]],
  ["operator/", ["npm:commander", "npm:yaml"]],
];

const PROGRAM_FOLDERS = ["agent/", "updater/", "operator/"];
const OUTER_FOLDERS = ["tests/", "demo/", "bench/", "build/"];

/** One violation for every import that a predicate finds wrong. */
function forEachImport(
  graph: SourceGraph,
  why: (file: SourceFile, edge: ImportEdge) => string | null,
): Violation[] {
  return graph.flatMap((file) =>
    file.imports.flatMap((edge) => {
      const message = why(file, edge);
      return message === null ? [] : [{ path: file.path, message: `${message}: ${edge.specifier}` }];
    })
  );
}

/** Contracts import only contracts. */
export const contractsStandAlone: ArchitectureRule = {
  name: "contracts import only contracts",
  check: (graph) =>
    forEachImport(graph, ({ path }, { target }) => {
      if (!path.startsWith("contracts/") || isTest(path) || target.startsWith("contracts/")) return null;
      return CONTRACTS_BUILTINS[path]?.includes(target) ? null : "a contract imports what is no contract";
    }),
};

/** The library knows contracts and the runtime, and no program. */
export const libraryLayer: ArchitectureRule = {
  name: "lib imports only contracts, lib and built-in modules",
  check: (graph) =>
    forEachImport(graph, ({ path }, { target }) => {
      if (!path.startsWith("lib/") || isTest(path)) return null;
      const allowed = ["contracts/", "lib/", "node:", ...(path.startsWith("lib/bus/") ? ["npm:"] : [])];
      if (!path.startsWith("lib/bus/") && target.startsWith("lib/bus/")) {
        return "the library outside lib/bus imports it";
      }
      return allowed.some((start) => target.startsWith(start)) ? null : "the library imports from outside its layer";
    }),
};

/** The programs meet in contracts and on the wire only. */
export const programsStandApart: ArchitectureRule = {
  name: "agent, updater and operator never import one another",
  check: (graph) =>
    forEachImport(graph, ({ path }, { target }) => {
      const own = PROGRAM_FOLDERS.find((folder) => path.startsWith(folder));
      const other = PROGRAM_FOLDERS.find((folder) => target.startsWith(folder));
      return own === undefined || other === undefined || own === other ? null : "a program imports another one";
    }),
};

/** Every package is used in its own place. */
export const packagesInTheirPlace: ArchitectureRule = {
  name: "only lib/bus, tests and benchmarks import @nats-io, only the operator its packages, and nothing else any",
  check: (graph) =>
    forEachImport(graph, ({ path }, { target }) => {
      // Benchmarks compare with the library itself.
      const mayUseNats = path.startsWith("tests/") || path.startsWith("bench/");
      const guarded = isProduct(path) || (!mayUseNats && target.startsWith("npm:@nats-io/"));
      if (!guarded || isTest(path) || !target.startsWith("npm:")) return null;
      const allowed = PACKAGES.flatMap(([folder, packages]) => path.startsWith(folder) ? packages : []);
      return allowed.some((name) => name.endsWith("/") ? target.startsWith(name) : target === name)
        ? null
        : "a package is imported outside its place";
    }),
};

/** Versions stand in deno.json alone. */
export const packagesByName: ArchitectureRule = {
  name: "packages are imported by their mapped names",
  check: (graph) =>
    forEachImport(
      graph,
      (_file, { specifier }) =>
        /^(?:npm|jsr|https?):/.test(specifier) ? "a package is imported by URL and not by its name in deno.json" : null,
    ),
};

/** What other tools import stays free of packages. */
export const publicModuleWithoutPackages: ArchitectureRule = {
  name: "mod.ts reaches contracts and lib without packages only",
  check: (graph) => {
    const files = new Map(graph.map((file) => [file.path, file]));
    const seen = new Set(["mod.ts"]);
    const violations: Violation[] = [];
    // A set iterates over what is added to it on the way.
    for (const path of seen) {
      for (const { target, specifier } of files.get(path)?.imports ?? []) {
        if (target.startsWith("npm:")) violations.push({ path, message: `mod.ts reaches a package: ${specifier}` });
        if (PROGRAM_FOLDERS.some((folder) => target.startsWith(folder))) {
          violations.push({ path, message: `mod.ts reaches a program: ${specifier}` });
        }
        seen.add(target);
      }
    }
    return violations;
  },
};

/** The product does not know what builds, shows, measures or tests it. */
export const productKnowsNoOuterFolder: ArchitectureRule = {
  name: "no product file imports tests, demo, bench or build, nor a unit test",
  check: (graph) =>
    forEachImport(graph, ({ path }, { target }) => {
      if (!isProduct(path)) return null;
      if (isTest(target)) return "a product file imports a test";
      return OUTER_FOLDERS.some((folder) => target.startsWith(folder)) ? "a product file imports from outside" : null;
    }),
};

/** Modules can be read and loaded one after the other. */
export const noImportCycles: ArchitectureRule = {
  name: "no circular imports",
  check: (graph) =>
    findImportCycles(graph).map((cycle) => ({
      path: cycle[0] ?? "",
      message: `circular import: ${[...cycle, cycle[0]].join(" -> ")}`,
    })),
};

/** All rules on imports. */
export const IMPORT_RULES: readonly ArchitectureRule[] = [
  contractsStandAlone,
  libraryLayer,
  programsStandApart,
  packagesInTheirPlace,
  packagesByName,
  publicModuleWithoutPackages,
  productKnowsNoOuterFolder,
  noImportCycles,
];
