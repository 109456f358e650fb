import { assertEquals, assertStringIncludes } from "@std/assert";
import type { UpdaterState } from "../../contracts/updater_protocol.ts";
import { SAMPLE_LEDGERS } from "../../tests/fakes/ledger_samples.ts";
import { statusOfRun } from "../system_upgrade/core/upgrade_status.ts";
import { renderState } from "./render_state.ts";

const IDLE: UpdaterState = {
  updaterVersion: "1.0.0",
  capabilities: ["https", "AptFullUpgradeV1"],
  busy: false,
  quarantined: false,
  transaction: null,
};

function rendered(name: string): string {
  const run = SAMPLE_LEDGERS[name]?.run;
  if (run === undefined || run === null) throw new RangeError(name);
  return renderState({ ...IDLE, systemUpgrade: statusOfRun(run) });
}

Deno.test("renderState() shows a person how the last system upgrade went, and where to read on", () => {
  assertEquals(renderState(IDLE).split("\n"), ["updater    1.0.0 (https, AptFullUpgradeV1)", "upgrade    none yet"]);
  assertEquals(rendered("failed").split("\n").slice(2), [
    "system     failed since 2026-06-01T12:00:01.000Z (UpgradeFailed)",
    "run        7a9c3d1e-6f5a-4b7c-8d9e-0a1b2c3d4e5f",
    "error      policy: E: Sub-process /usr/bin/dpkg returned an error code (1)",
    "command    apt-get full-upgrade: exit code 100",
    "  | dpkg: error",
    "packages   none looked at yet",
    "log        journalctl -u fleet-system-upgrade-7a9c3d1e-6f5a-4b7c-8d9e-0a1b2c3d4e5f.service",
  ]);
  assertStringIncludes(rendered("upgrading"), "packages   2 upgraded");
  assertStringIncludes(rendered("succeeded"), "(NothingToDo)");
});

Deno.test("renderState() says what root does about a ledger that cannot be trusted", () => {
  const shown = renderState({ ...IDLE, ledgerProblem: "Cannot trust the ledger /x: its checksum is wrong" });
  assertStringIncludes(shown, "ledger     Cannot trust the ledger");
  assertStringIncludes(shown, "fleet-updater repair --renew-ledger");
});
