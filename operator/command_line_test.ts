import { assertEquals, assertThrows } from "@std/assert";
import { FleetError } from "../contracts/errors.ts";
import { DEFAULT_CONFIG_PATH, parseCommandLine } from "./command_line.ts";

Deno.test("a command line says what to do and where the configuration is", () => {
  const run = { kind: "run", configPath: DEFAULT_CONFIG_PATH, observe: false } as const;
  assertEquals(parseCommandLine([]), run);
  assertEquals(parseCommandLine(["--config", "a.json"]), { ...run, configPath: "a.json" });
  assertEquals(parseCommandLine(["--observe", "--config=a.json"]), { ...run, configPath: "a.json", observe: true });
  assertEquals(parseCommandLine(["--version"]), { kind: "version" });
  for (const help of ["--help", "-h"]) assertEquals(parseCommandLine([help, "--observe"]), { kind: "help" });
});

for (const args of [["--nope"], ["serve"], ["--config"], ["--config="], ["--observe=yes"]]) {
  Deno.test(`a wrong command line is a usage error: ${args.join(" ")}`, () => {
    const error = assertThrows(() => parseCommandLine(args), FleetError, "see fleet-operator --help");
    assertEquals(error.code, "E_USAGE");
  });
}
