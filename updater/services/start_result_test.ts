import { assertEquals } from "@std/assert";
import { startResult } from "./start_result.ts";

Deno.test("startResult() uses systemd's words", () => {
  assertEquals(startResult({ exitCode: 0 }), { result: "protocol", exitCode: 0 });
  assertEquals(startResult({ exitCode: 1 }), { result: "exit-code", exitCode: 1 });
  assertEquals(startResult({ exitCode: 75 }), { result: "exit-code", exitCode: 75 });
  assertEquals(startResult({ signal: "SIGSEGV" }), { result: "signal", signal: "SIGSEGV" });
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM", "SIGPIPE"]) {
    assertEquals(startResult({ signal }), { result: "protocol", signal });
  }
});

Deno.test("startResult() of an end that is not known is that of a silent exit", () => {
  assertEquals(startResult({}), { result: "protocol", exitCode: 0 });
});
