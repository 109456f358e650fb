import { assertEquals, assertThrows } from "@std/assert";
import { FleetError } from "../contracts/errors.ts";
import { parseCommandLine } from "./command_line.ts";

Deno.test("parseCommandLine() reads what there is to ask for", () => {
  assertEquals(parseCommandLine([]), { kind: "run", configPath: "/etc/harmony-fleet/agent.json" });
  assertEquals(parseCommandLine(["--config", "/a"]), { kind: "run", configPath: "/a" });
  assertEquals(parseCommandLine(["--self-test", "--config=/a"]), { kind: "self-test", configPath: "/a" });
  assertEquals(parseCommandLine(["--version"]), { kind: "version" });
  assertEquals(parseCommandLine(["--version", "--help"]), { kind: "help" });
});

Deno.test("parseCommandLine() refuses everything else in one line", () => {
  for (const args of [["--bad"], ["word"], ["--config"], ["--config", ""], ["--self-test=1"], ["-x"]]) {
    const error = assertThrows(() => parseCommandLine(args), FleetError, "see fleet-agent --help");
    assertEquals([error.code, error.message.includes("\n")], ["E_USAGE", false]);
  }
});
