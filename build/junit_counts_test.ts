import { assertEquals } from "@std/assert";
import { addCounts, countTests, summaryLine } from "./junit_counts.ts";

const REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="deno test" tests="6" failures="2" errors="0" time="0.036">
    <testsuite name="./a_test.ts" tests="6" disabled="1" errors="0" failures="2">
        <testcase name="ok" classname="./a_test.ts" time="0.026" line="1" col="6">
        </testcase>
        <testcase name="ignored" classname="./a_test.ts" time="0.000" line="3" col="6">
            <skipped/>
        </testcase>
        <testcase name="steps" classname="./a_test.ts" time="0.002" line="4" col="6">
            <failure message="1 test step failed">1 test step failed.</failure>
        </testcase>
        <testcase name="one &gt; two" classname="./a_test.ts" time="0.000" line="4" col="43">
        </testcase>
        <testcase name="steps &gt; a" classname="./a_test.ts" time="0.000" line="4" col="43">
        </testcase>
        <testcase name="steps &gt; a &gt; b" classname="./a_test.ts" time="0.000" line="4" col="72">
            <failure message="Uncaught Error: x
&lt;/testcase&gt;">Error: x</failure>
        </testcase>
    </testsuite>
</testsuites>
`;

Deno.test("countTests() counts tests and not their steps", () => {
  assertEquals(countTests(REPORT), { passed: 2, failed: 1, skipped: 1 });
});

Deno.test("countTests() gives null for a report that was cut off", () => {
  assertEquals(countTests(""), null);
  assertEquals(countTests(REPORT.slice(0, -20)), null);
});

Deno.test("summaryLine() names skipped tests only when there are any", () => {
  assertEquals(summaryLine({ passed: 2, failed: 0, skipped: 0 }), "2 passed, 0 failed");
  assertEquals(
    summaryLine(addCounts({ passed: 2, failed: 0, skipped: 1 }, { passed: 3, failed: 4, skipped: 5 })),
    "5 passed, 4 failed, 6 skipped",
  );
});
