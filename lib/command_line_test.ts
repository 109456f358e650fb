import { assertEquals, assertThrows } from "@std/assert";
import { parseArgs } from "node:util";
import { FleetError } from "../contracts/errors.ts";
import { usageError } from "./command_line.ts";

Deno.test("usageError() says in one line what is wrong and where help is", () => {
  const parse = (...args: string[]) => {
    try {
      parseArgs({ args, options: { file: { type: "string" }, quiet: { type: "boolean" } } });
    } catch (error) {
      throw usageError("fleet-x", error);
    }
  };
  for (
    const [args, problem] of [
      [["--nope"], "Unknown option '--nope'"],
      [["word"], "Unexpected argument 'word'"],
      [["--file"], "Option '--file <value>' argument missing"],
      [["--file", "-x"], "Option '--file' argument is ambiguous"],
      [["--quiet=1"], "Option '--quiet' does not take an argument"],
    ] as const
  ) {
    const error = assertThrows(() => parse(...args), FleetError);
    assertEquals([error.code, error.message], ["E_USAGE", `${problem}; see fleet-x --help`]);
  }
  assertEquals(usageError("fleet-x", "a. b").message, "a. b; see fleet-x --help");
});
