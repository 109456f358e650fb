/**
 * Reads the source tree into a graph with `deno info`.
 *
 * @module
 */

import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { sourcePaths } from "../../build/source_tree.ts";
import type { ImportEdge, SourceGraph } from "./source_graph.ts";

interface InfoDependency {
  readonly specifier: string;
  readonly code?: { readonly specifier?: string; readonly error?: string };
  readonly type?: { readonly specifier?: string; readonly error?: string };
}

interface InfoModule {
  readonly specifier: string;
  readonly dependencies?: readonly InfoDependency[];
}

/**
 * Gives every TypeScript file below `root` with what it imports.
 *
 * @throws {Error} when an import does not resolve
 */
export async function loadGraph(root: string): Promise<SourceGraph> {
  const paths = (await sourcePaths(root)).filter((path) => path.endsWith(".ts"));
  const modules = new Map((await infoOf(root, paths)).map((module) => [module.specifier, module]));
  return await Promise.all(paths.map(async (path) => ({
    path,
    text: await Deno.readTextFile(join(root, path)),
    imports: (modules.get(pathToFileURL(join(root, path)).href)?.dependencies ?? []).map((dependency) =>
      importEdge(root, path, dependency)
    ),
  })));
}

/* `deno info` takes one root: a file that imports the whole tree. */
async function infoOf(root: string, paths: readonly string[]): Promise<readonly InfoModule[]> {
  const dir = await Deno.makeTempDir();
  try {
    const entry = join(dir, "whole_tree.ts");
    const imports = paths.map((path) => `import ${JSON.stringify(pathToFileURL(join(root, path)).href)};\n`);
    await Deno.writeTextFile(entry, imports.join(""));
    const output = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", "--config", join(root, "deno.json"), entry],
      stdin: "null",
    }).output();
    if (!output.success) throw new Error(`Cannot read the imports: ${new TextDecoder().decode(output.stderr)}`);
    const info: { readonly modules: readonly InfoModule[] } = JSON.parse(new TextDecoder().decode(output.stdout));
    return info.modules;
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

function importEdge(root: string, path: string, dependency: InfoDependency): ImportEdge {
  const resolved = dependency.code?.specifier ?? dependency.type?.specifier;
  if (resolved === undefined) {
    const error = dependency.code?.error ?? dependency.type?.error ?? "not resolved";
    throw new Error(`Cannot read the imports of ${path}: ${dependency.specifier}: ${error}`);
  }
  return { specifier: dependency.specifier, target: targetOf(root, resolved) };
}

function targetOf(root: string, resolved: string): string {
  if (resolved.startsWith("file:")) return relative(root, fileURLToPath(resolved)).replaceAll("\\", "/");
  return /^npm:\/?((?:@[^/@]+\/)?[^/@]+)/.exec(resolved)?.[1]?.replace(/^/, "npm:") ?? resolved;
}
