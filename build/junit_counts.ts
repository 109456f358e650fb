/**
 * Counts tests in the JUnit report that `deno test --junit-path` writes.
 *
 * @module
 */

/** How many tests ended in which way; steps of a test are not counted on their own. */
export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The counts of nothing. */
export const NO_TESTS: TestCounts = { passed: 0, failed: 0, skipped: 0 };

/** Counts the tests of a report; `null` when the text is no complete report (the run was cut off). */
export function countTests(report: string): TestCounts | null {
  if (!report.includes("<testsuites ") || !report.trimEnd().endsWith("</testsuites>")) return null;
  const cases = [...report.matchAll(/<testcase name="([^"]*)"[^>]*>(.*?)<\/testcase>/gs)]
    .map(([, name = "", body = ""]) => ({ name, body }));
  const names = new Set(cases.map((testCase) => testCase.name));
  return cases.filter(({ name }) => !isStep(name, names)).map(({ body }) => ({
    passed: /<(?:failure|error|skipped)\b/.test(body) ? 0 : 1,
    failed: /<(?:failure|error)\b/.test(body) ? 1 : 0,
    skipped: /<skipped\b/.test(body) ? 1 : 0,
  })).reduce(addCounts, NO_TESTS);
}

/* Deno lists a step as "test > step" beside its test, which has failed when the step has. */
function isStep(name: string, names: ReadonlySet<string>): boolean {
  const parts = name.split(" &gt; ");
  return parts.some((_, index) => index > 0 && names.has(parts.slice(0, index).join(" &gt; ")));
}

/** Adds two counts. */
export function addCounts(a: TestCounts, b: TestCounts): TestCounts {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

/** The plain last line of a test run. */
export function summaryLine(counts: TestCounts): string {
  const skipped = counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`;
  return `${counts.passed} passed, ${counts.failed} failed${skipped}`;
}
