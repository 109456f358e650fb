/**
 * Makes one JavaScript file of a program with `deno bundle`, and keeps it on disk for as long as no source changes:
 * several versions of a program are one bundle with another version compiled in.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The root of the repository. */
export const REPOSITORY_ROOT: string = resolve(dirname(fileURLToPath(import.meta.url)), "..");

/** Where bundles are kept unless the caller says otherwise. */
export const DEFAULT_CACHE_DIR: string = join(REPOSITORY_ROOT, ".tools", "bundles");

/** What {@link bundleProgram} takes. */
export interface BundleOptions {
  /** The name that the cached bundle is kept under; one bundle per name is kept. */
  readonly name: string;
  /** The entry point, relative to the root of the repository, or absolute. */
  readonly entryPoint: string;
  /** The deno that bundles. @default the one that runs this */
  readonly bundlerPath?: string;
  /** @default {@link DEFAULT_CACHE_DIR} */
  readonly cacheDir?: string;
}

interface CachedBundle {
  readonly bundler: string;
  readonly entryPoint: string;
  /** SHA-256 by absolute path of every file that went in, the configuration and the lock file among them. */
  readonly sources: Readonly<Record<string, string>>;
  readonly bundle: string;
}

const CHANGED_SOURCE_RETRIES = 3;
const running = new Map<string, Promise<string>>();

/**
 * Gives the minified bundle of a program: from the cache when no source has changed, in a few milliseconds.
 *
 * @throws {Error} when the program does not bundle; the message has what `deno bundle` printed.
 */
export function bundleProgram(options: BundleOptions): Promise<string> {
  const key = JSON.stringify(options);
  let pending = running.get(key);
  if (pending === undefined) {
    pending = bundleOrReuse(options).finally(() => running.delete(key));
    running.set(key, pending);
  }
  return pending;
}

async function bundleOrReuse(options: BundleOptions): Promise<string> {
  const bundlerPath = options.bundlerPath ?? Deno.execPath();
  const entryPoint = resolve(REPOSITORY_ROOT, options.entryPoint);
  const cacheDir = options.cacheDir ?? DEFAULT_CACHE_DIR;
  const cachePath = join(cacheDir, `${options.name}.json`);
  const bundler = `deno ${Deno.version.deno} ${bundlerPath}`;

  const cached = await readCache(cachePath);
  if (
    cached !== null && cached.bundler === bundler && cached.entryPoint === entryPoint &&
    await isUnchanged(cached.sources)
  ) return cached.bundle;

  for (let attempt = 1;; attempt++) {
    const sources = await digestAll(await sourcesOf(bundlerPath, entryPoint));
    const bundle = await runBundler(bundlerPath, entryPoint, cacheDir);
    // A source that was saved meanwhile may or may not be in the bundle; such a bundle must not be kept.
    const settled = await isUnchanged(sources);
    if (settled) await writeCache(cachePath, { bundler, entryPoint, sources, bundle });
    if (settled || attempt >= CHANGED_SOURCE_RETRIES) return bundle;
  }
}

async function sourcesOf(bundlerPath: string, entryPoint: string): Promise<string[]> {
  const output = await runDeno(bundlerPath, ["info", "--json", "--config", configPath(), entryPoint]);
  const graph: { modules: { kind?: string; local?: string | null; error?: string }[] } = JSON.parse(output);
  const failed = graph.modules.find((module) => module.error !== undefined);
  if (failed !== undefined) throw new Error(`Cannot bundle ${entryPoint}: ${failed.error}`);
  const local = graph.modules.flatMap((module) => typeof module.local === "string" ? [module.local] : []);
  return [...local, configPath(), join(REPOSITORY_ROOT, "deno.lock")];
}

async function runBundler(bundlerPath: string, entryPoint: string, cacheDir: string): Promise<string> {
  await Deno.mkdir(cacheDir, { recursive: true });
  const outDir = await Deno.makeTempDir({ dir: cacheDir, prefix: "bundling-" });
  try {
    const out = join(outDir, "bundle.js");
    await runDeno(bundlerPath, [
      "bundle",
      "--quiet",
      "--minify",
      "--config",
      configPath(),
      "--output",
      out,
      entryPoint,
    ]);
    return await Deno.readTextFile(out);
  } finally {
    await Deno.remove(outDir, { recursive: true });
  }
}

async function runDeno(denoPath: string, args: string[]): Promise<string> {
  const output = await new Deno.Command(denoPath, {
    args,
    cwd: REPOSITORY_ROOT,
    env: { DENO_DIR: Deno.env.get("DENO_DIR") ?? join(REPOSITORY_ROOT, ".tools", "deno-dir"), NO_COLOR: "1" },
    stdin: "null",
  }).output();
  if (output.success) return new TextDecoder().decode(output.stdout);
  throw new Error(`Cannot run deno ${args[0]}: ${new TextDecoder().decode(output.stderr).trim()}`);
}

function configPath(): string {
  return join(REPOSITORY_ROOT, "deno.json");
}

async function digestAll(paths: readonly string[]): Promise<Record<string, string>> {
  const entries = await Promise.all(paths.map(async (path) => [path, await digestOf(path)] as const));
  return Object.fromEntries(entries);
}

async function isUnchanged(sources: Readonly<Record<string, string>>): Promise<boolean> {
  const now = await digestAll(Object.keys(sources));
  return Object.entries(sources).every(([path, digest]) => now[path] === digest);
}

async function digestOf(path: string): Promise<string> {
  try {
    return createHash("sha256").update(await Deno.readFile(path)).digest("hex");
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "missing";
    throw error;
  }
}

/* The cache is a convenience: whatever cannot be read is made again. */
async function readCache(path: string): Promise<CachedBundle | null> {
  try {
    return JSON.parse(await Deno.readTextFile(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return null;
    throw error;
  }
}

async function writeCache(path: string, entry: CachedBundle): Promise<void> {
  const temp = await Deno.makeTempFile({ dir: dirname(path), prefix: "bundle-" });
  await Deno.writeTextFile(temp, JSON.stringify(entry));
  await Deno.rename(temp, path);
}
