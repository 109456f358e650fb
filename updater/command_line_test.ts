import { assert, assertEquals, assertThrows } from "@std/assert";
import { FleetError } from "../contracts/errors.ts";
import { EXIT_CODES } from "../lib/program.ts";
import { HELP_TEXT, parseCommandLine } from "./command_line.ts";
import { EXIT_ACTIVE } from "./commands/idle.ts";
import { EXIT_QUARANTINED } from "./commands/status.ts";

const DEFAULTS = { root: "", config: undefined, output: "text", select: undefined, renewLedger: false } as const;

Deno.test("parseCommandLine() reads what there is to ask for", () => {
  for (const command of ["serve", "status", "idle", "repair"] as const) {
    assertEquals(parseCommandLine([command]), { ...DEFAULTS, command });
  }
  const repair = ["repair", "--select", "1.2.0", "--root", "/d", "--config=u.json", "--output", "json"];
  assertEquals(parseCommandLine(repair), {
    command: "repair",
    root: "/d",
    config: "u.json",
    output: "json",
    select: "1.2.0",
    renewLedger: false,
  });
  assertEquals(parseCommandLine(["repair", "--renew-ledger"]), { ...DEFAULTS, command: "repair", renewLedger: true });
  for (const help of ["--help", "-h"]) assertEquals(parseCommandLine([help, "serve"]).command, "help");
  assertEquals(parseCommandLine(["--version"]).command, "version");
});

const WRONG: Readonly<Record<string, string>> = {
  "": "a command is missing",
  "stop": "stop is no command",
  "status now": "now: too many words",
  "status --output yaml": "--output is yaml, must be text or json",
  "status --select previous": "--select belongs to repair",
  "status --renew-ledger": "--renew-ledger belongs to repair",
  "repair --renew-ledger --select previous": "--renew-ledger and --select are two repairs",
  "serve --root relative/path": "--root is relative/path, must be an absolute path",
  "serve --root": "Option '--root <value>' argument missing",
  "--nope": "Unknown option '--nope'",
};

Deno.test("parseCommandLine() refuses everything else in one line", () => {
  for (const [line, problem] of Object.entries(WRONG)) {
    const error = assertThrows(() => parseCommandLine(line.split(" ").filter((word) => word !== "")), FleetError);
    assertEquals([error.code, error.message], ["E_USAGE", `${problem}; see fleet-updater --help`]);
  }
});

Deno.test("the help has every exit code", () => {
  for (const code of [...Object.values(EXIT_CODES), EXIT_QUARANTINED, EXIT_ACTIVE]) {
    assert(new RegExp(`^  ${code} +\\S`, "m").test(HELP_TEXT), `${code}`);
  }
});
