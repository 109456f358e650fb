import { assertEquals } from "@std/assert";
import { runId, systemFailed, systemSucceeded } from "../../tests/golden/task_documents.ts";
import { taskTargetState } from "./task_target_state.ts";

Deno.test({
  name: "taskTargetState(): every state of a target",
  permissions: "none",
  fn() {
    const { firstHeartbeat: _, ...silent } = systemSucceeded;
    const other = { ...systemFailed, attemptId: "7d2f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4e" };
    const cases = [
      [false, null, 0, "waiting"],
      [true, null, 0, "unanswered"],
      [true, other, 0, "unanswered"],
      [true, { ...systemFailed, phase: "upgrading" }, 0, "running"],
      [true, silent, 0, "running"],
      [false, systemSucceeded, 9, "succeeded"],
      [false, systemFailed, 9, "failed"],
      [false, systemSucceeded, 10, "late"],
      [false, systemFailed, 11, "late"],
    ] as const;
    for (const [hasIntent, value, receivedAtMs, wanted] of cases) {
      const status = value === null ? null : { value, receivedAtMs };
      const facts = { deviceId: "device-1", runId, expiresAtMs: 10, hasIntent, status };
      assertEquals(taskTargetState(facts), wanted, JSON.stringify(facts));
    }
  },
});
