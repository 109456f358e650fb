import { assertEquals } from "@std/assert";
import { assertRejected, assertStrictDecoder } from "../tests/assert/strict_decoder.ts";
import { taskRun } from "../tests/golden/task_documents.ts";
import { decodeProblems } from "./decode_problems.ts";
import { TASK_DEADLINE_MAX_S, TASK_DEADLINE_MIN_S } from "./limits.ts";
import {
  emptyPolicy,
  isTerminalRun,
  TASK_RUN_PHASES,
  TASK_RUN_REASONS,
  taskRunSpec,
  taskRunStatus,
} from "./task_run.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("task run: the status is strict in every field", () => {
  assertStrictDecoder(taskRunStatus, taskRun.status);
});

pure("task run: every member of the spec is needed, and of its type", () => {
  for (const name of ["allowedGroups", "targetSelector", "deadlineSeconds", "systemUpgradeV1"]) {
    const { [name]: _, ...rest } = taskRun.spec as Record<string, unknown>;
    assertRejected(taskRunSpec, rest, name);
    for (const wrong of [null, true, "text", 7.5]) assertRejected(taskRunSpec, { ...rest, [name]: wrong }, name);
  }
  assertEquals(taskRunSpec(taskRun.spec, ""), taskRun.spec);
});

pure("task run: the deadline is bounded", () => {
  const withDeadline = (deadlineSeconds: number) => ({ ...taskRun.spec, deadlineSeconds });
  for (
    const deadline of [
      TASK_DEADLINE_MIN_S,
      TASK_DEADLINE_MIN_S + 1,
      TASK_DEADLINE_MAX_S - 1,
      TASK_DEADLINE_MAX_S,
    ]
  ) assertEquals(taskRunSpec(withDeadline(deadline), "").deadlineSeconds, deadline);
  for (const deadline of [TASK_DEADLINE_MIN_S - 1, TASK_DEADLINE_MAX_S + 1, 0, -1]) {
    assertRejected(taskRunSpec, withDeadline(deadline), "deadlineSeconds");
  }
});

pure("task run: systemUpgradeV1 is exactly empty, wherever it is read", () => {
  assertEquals(emptyPolicy({}, "systemUpgradeV1"), {});
  assertRejected(emptyPolicy, { packages: ["vim"] }, "packages");
  const named = { ...taskRun.spec, systemUpgradeV1: { reboot: false } };
  assertRejected(taskRunSpec, named, "systemUpgradeV1.reboot");
  assertRejected(taskRunSpec, { ...taskRun.spec, systemUpgradeV1: { "a\nb": 1 } }, "systemUpgradeV1");
  assertRejected(taskRunSpec, { ...taskRun.spec, systemUpgradeV1: [] }, "systemUpgradeV1");
  assertEquals(decodeProblems(taskRunSpec, named).map(({ field }) => field), ["systemUpgradeV1.reboot"]);
});

pure("task run: what a person adds to a spec is named", () => {
  const problems = decodeProblems(taskRunSpec, { ...taskRun.spec, concurrency: 5 });
  assertEquals(problems.map(({ field }) => field), ["concurrency"]);
});

pure("task run: phases and reasons are closed lists", () => {
  assertEquals(TASK_RUN_PHASES.filter(isTerminalRun), ["Complete", "Failed"]);
  for (const reason of TASK_RUN_REASONS) taskRunStatus({ ...taskRun.status, reason }, "");
  assertRejected(taskRunStatus, { ...taskRun.status, reason: "Other" }, "reason");
  assertRejected(taskRunStatus, { ...taskRun.status, phase: "Cancelled" }, "phase");
});
