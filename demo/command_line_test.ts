import { assertEquals, assertStringIncludes } from "@std/assert";
import { HELP_TEXT, parseDemoArgs } from "./command_line.ts";

Deno.test("parseDemoArgs() takes options in any order", () => {
  assertEquals(parseDemoArgs([]), { kind: "run", keep: false, plain: false });
  assertEquals(parseDemoArgs(["--plain", "--keep"]), { kind: "run", keep: true, plain: true });
  assertEquals(parseDemoArgs(["--keep", "--help"]), { kind: "help" });
  assertEquals(parseDemoArgs(["-h"]), { kind: "help" });
});

Deno.test("parseDemoArgs() says what is wrong", () => {
  for (const args of [["--kep"], ["now"], ["--keep=yes"]]) {
    const invocation = parseDemoArgs(args);
    assertEquals(invocation.kind, "usage");
    if (invocation.kind === "usage") assertStringIncludes(invocation.problem, args[0]?.split("=")[0] ?? "");
  }
});

Deno.test("the help names every option and exit code", () => {
  for (const word of ["--keep", "--plain", "--help", "\n  0 ", "\n  1 ", "\n  64 ", "\n  130 "]) {
    assertStringIncludes(HELP_TEXT, word);
  }
});
