/**
 * Runs test suites one after the other and ends with the plain line `N passed, N failed`, added up over all of them.
 *
 * @module
 */

import { join } from "node:path";
import { addCounts, countTests, NO_TESTS, summaryLine, type TestCounts } from "./junit_counts.ts";
import { REPOSITORY_ROOT } from "./bundle.ts";
import { sourcePaths } from "./source_tree.ts";
import { isDocumented, type TestSuite, testSuites } from "./test_suites.ts";

const USAGE = `usage: ./dev test [--quick | --outside | SUITE...] [--list] [-- ARGUMENTS OF deno test]

  --quick     only the suites of ./dev ok
  --outside   only the other ones
  --list      name the suites and run none
`;

/** A suite that hangs is stopped and has failed: a run must end by itself. */
const SUITE_TIMEOUT_MS = 20 * 60_000;
const KILL_AFTER_MS = 10_000;

interface Selection {
  readonly suites: readonly TestSuite[];
  readonly denoArgs: readonly string[];
  readonly listOnly: boolean;
}

/** Picks the suites that the arguments ask for; a text is what is wrong with them. */
export function selectSuites(all: readonly TestSuite[], args: readonly string[]): Selection | string {
  const separator = args.indexOf("--");
  const own = separator < 0 ? args : args.slice(0, separator);
  const denoArgs = separator < 0 ? [] : args.slice(separator + 1);
  const names = own.filter((arg) => !arg.startsWith("-"));
  const flags = own.filter((arg) => arg.startsWith("-"));
  const unknownFlag = flags.find((flag) => !["--quick", "--outside", "--list"].includes(flag));
  if (unknownFlag !== undefined) return `unknown option: ${unknownFlag}`;
  const unknownName = names.find((name) => !all.some((suite) => suite.name === name));
  if (unknownName !== undefined) {
    return `no suite "${unknownName}"; there are: ${all.map((suite) => suite.name).join(", ")}`;
  }
  const suites = all.filter((suite) =>
    (names.length === 0 || names.includes(suite.name)) &&
    (!flags.includes("--quick") || suite.quick) && (!flags.includes("--outside") || !suite.quick)
  );
  return { suites, denoArgs, listOnly: flags.includes("--list") };
}

async function runSuite(suite: TestSuite, denoArgs: readonly string[], reportPath: string): Promise<TestCounts> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "test",
      "--quiet",
      "--allow-all",
      "--permit-no-files",
      `--junit-path=${reportPath}`,
      ...denoArgs,
      ...suite.args,
    ],
    cwd: REPOSITORY_ROOT,
    stdin: "null",
  }).spawn();
  let timedOut = false;
  const timers = [
    setTimeout(() => {
      timedOut = true;
      child.kill("SIGTERM");
    }, SUITE_TIMEOUT_MS),
    setTimeout(() => child.kill("SIGKILL"), SUITE_TIMEOUT_MS + KILL_AFTER_MS),
  ];
  const status = await child.status;
  timers.forEach(clearTimeout);
  const counts = countTests(await Deno.readTextFile(reportPath).catch(() => "")) ?? NO_TESTS;
  if (timedOut) write(`suite ${suite.name}: stopped after ${SUITE_TIMEOUT_MS / 60_000} min`);
  // A module that does not load or a run that was cut off fails no test by name; it must not pass for that.
  return !status.success && counts.failed === 0 ? addCounts(counts, { ...NO_TESTS, failed: 1 }) : counts;
}

async function suitesOfTree(): Promise<TestSuite[]> {
  const paths = await sourcePaths(REPOSITORY_ROOT);
  const withExamples: string[] = [];
  for (const path of paths.filter(isDocumented)) {
    if ((await Deno.readTextFile(join(REPOSITORY_ROOT, path))).includes("```")) withExamples.push(path);
  }
  return testSuites(paths, withExamples);
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help")) return write(USAGE), 0;
  const selection = selectSuites(await suitesOfTree(), args);
  if (typeof selection === "string") return write(`${selection}\n${USAGE}`), 64;
  if (selection.listOnly) return write(selection.suites.map((suite) => suite.name).join("\n")), 0;

  const reportDir = await Deno.makeTempDir();
  const lines: string[] = [];
  let total = NO_TESTS;
  try {
    for (const suite of selection.suites) {
      const startedMs = performance.now();
      const counts = await runSuite(suite, selection.denoArgs, join(reportDir, `${suite.name}.xml`));
      lines.push(
        `${suite.name}: ${summaryLine(counts)} (${((performance.now() - startedMs) / 1000).toFixed(1)} s)`,
      );
      total = addCounts(total, counts);
    }
  } finally {
    await Deno.remove(reportDir, { recursive: true });
  }
  for (const line of lines) write(line);
  write(summaryLine(total));
  return total.failed === 0 ? 0 : 1;
}

function write(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

if (import.meta.main) Deno.exit(await main(Deno.args));
