/**
 * Which test suites there are: `unit` beside the sources, `doc` for the examples in docstrings, and one per folder
 * under `tests/` for what crosses modules or touches the outside.
 *
 * @module
 */

/** One run of `deno test`. */
export interface TestSuite {
  readonly name: string;
  /** Arguments of `deno test` after the common ones: flags, files and folders. */
  readonly args: readonly string[];
  /** Whether the suite belongs to the quick check of every edit (`./dev ok`). */
  readonly quick: boolean;
}

/** What of a source tree decides the suites: paths relative to its root, with `/` between the names. */
export type SourcePaths = readonly string[];

/** Whether the examples in the docstrings of a file are a promise to its users. */
export function isDocumented(path: string): boolean {
  return DOCUMENTED_REGEXP.test(path) && path.endsWith(".ts") && !TEST_FILE_REGEXP.test(path);
}

const TEST_FILE_REGEXP = /(?:^|\/)[^/]+_test\.ts$/;
const UNIT_ROOTS = ["contracts/", "lib/", "updater/", "agent/", "operator/", "build/", "demo/", "bench/", "deploy/"];
/** Folders under `tests/` with quick tests of the tree itself. */
const QUICK_FOLDERS = ["architecture"];
/** Folders under `tests/` that hold what other tests use; their own tests are unit tests. */
const SUPPORT_FOLDERS = ["assert", "fakes"];
/** The public surface, whose examples must run. */
const DOCUMENTED_REGEXP = /^(?:mod\.ts|contracts\/|lib\/)/;

/**
 * The suites of a tree, quick ones first; a suite without tests is left out.
 *
 * @param withExamples those of the paths that have a code block in a docstring
 */
export function testSuites(paths: SourcePaths, withExamples: SourcePaths): TestSuite[] {
  const tests = paths.filter((path) => TEST_FILE_REGEXP.test(path));
  const documented = withExamples.filter(isDocumented);
  const suites: TestSuite[] = [
    { name: "unit", args: ["--parallel", ...tests.filter(isUnitTest)], quick: true },
    { name: "doc", args: ["--doc", ...documented], quick: true },
    ...testFolders(tests).map((folder) => ({
      name: folder,
      args: tests.filter((path) => path.startsWith(`tests/${folder}/`)),
      quick: QUICK_FOLDERS.includes(folder),
    })),
  ];
  return suites.filter((suite) => suite.args.some((arg) => !arg.startsWith("--")))
    .sort((a, b) => Number(b.quick) - Number(a.quick));
}

function isUnitTest(path: string): boolean {
  return [...UNIT_ROOTS, ...SUPPORT_FOLDERS.map((folder) => `tests/${folder}/`)].some((root) =>
    path.startsWith(root)
  ) || !path.includes("/");
}

function testFolders(tests: SourcePaths): string[] {
  const folders = tests.flatMap((path) => /^tests\/([^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(folders)].filter((folder) => !SUPPORT_FOLDERS.includes(folder)).sort();
}
