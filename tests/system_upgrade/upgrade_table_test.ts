import { assert, assertEquals } from "@std/assert";
import { isTerminalSystemPhase, systemUpgradeStatus } from "../../contracts/system_upgrade.ts";
import { isUpgrading, type Ledger, ledgerDecoder } from "../../updater/system_upgrade/core/ledger.ts";
import { recoverRun } from "../../updater/system_upgrade/core/recover_run.ts";
import { statusOfRun } from "../../updater/system_upgrade/core/upgrade_status.ts";
import type { UpgradeEffect } from "../../updater/system_upgrade/core/upgrade_effect.ts";
import { type UpgradeOutcome, upgradeTransition } from "../../updater/system_upgrade/core/upgrade_transition.ts";
import { FIRST_BOOT, LEDGER_EVENTS, LEDGER_START_MS, NEXT_BOOT, SAMPLE_LEDGERS } from "../fakes/ledger_samples.ts";
import { assertGolden } from "../golden/golden.ts";

const LATER_MS = LEDGER_START_MS + 10_000;

function effectName(effect: UpgradeEffect): string {
  return effect.kind === "UpgradePackages" && effect.mayRemove ? `${effect.kind} (may remove)` : effect.kind;
}

function stateName({ run, rebootOwedBootId }: Ledger): string {
  if (run === null) return "no upgrade yet";
  const reason = run.finding?.reason ?? run.reason;
  const notes = [
    run.step === "none" ? [] : run.step,
    reason ?? [],
    rebootOwedBootId === undefined ? [] : "reboot owed",
  ];
  const flat = notes.flat();
  return flat.length === 0 ? run.phase : `${run.phase} (${flat.join(", ")})`;
}

function row(event: string, { ledger, effects }: UpgradeOutcome, before: Ledger): string {
  const next = ledger === before ? "unchanged" : stateName(ledger);
  return `  ${event.padEnd(40)}${next.padEnd(44)}${effects.map(effectName).join(", ") || "-"}`.trimEnd();
}

function render(): string {
  const lines = [
    "State machine of a system upgrade: state, event, next state, effects. Events not listed are ignored.",
    '"reboot owed": packages were changed in this boot, so that the next run reboots whatever it finds.',
  ];
  for (const [state, ledger] of Object.entries(SAMPLE_LEDGERS)) {
    lines.push("", state);
    let rows = 0;
    for (const [name, body] of Object.entries(LEDGER_EVENTS)) {
      const outcome = upgradeTransition(ledger, { ...body, atMs: LATER_MS });
      if (outcome.ledger === ledger && outcome.effects.length === 0) continue;
      lines.push(row(name, outcome, ledger));
      rows++;
    }
    if (rows === 0) lines.push("  everything is ignored");
  }
  for (const [title, boot] of [["the same boot", FIRST_BOOT], ["another boot", NEXT_BOOT]] as const) {
    lines.push("", "", `Recovery in ${title}: what a started updater does with the ledger that it finds.`, "");
    for (const [state, ledger] of Object.entries(SAMPLE_LEDGERS)) {
      lines.push(row(state, recoverRun(ledger, boot, LATER_MS), ledger));
    }
  }
  return `${lines.join("\n")}\n`;
}

Deno.test("the tables of a system upgrade are the reviewed ones", async () => {
  await assertGolden("system_upgrade_transitions.txt", render());
});

function* everyLedger(): Generator<readonly [name: string, ledger: Ledger]> {
  for (const [state, ledger] of Object.entries(SAMPLE_LEDGERS)) {
    yield [state, ledger];
    for (const boot of [FIRST_BOOT, NEXT_BOOT]) {
      yield [`${state}, recovered`, recoverRun(ledger, boot, LATER_MS).ledger];
    }
    for (const [name, body] of Object.entries(LEDGER_EVENTS)) {
      yield [`${state}, ${name}`, upgradeTransition(ledger, { ...body, atMs: LATER_MS }).ledger];
    }
  }
}

Deno.test("every ledger that the machine makes can be read back, and so can the status that it shows", () => {
  for (const [name, ledger] of everyLedger()) {
    assertEquals(ledgerDecoder(JSON.parse(JSON.stringify(ledger)), ""), ledger, name);
    if (ledger.run === null) continue;
    const status = statusOfRun(ledger.run);
    assertEquals(systemUpgradeStatus(JSON.parse(JSON.stringify(status)), ""), status, name);
  }
});

Deno.test("an attempt that has ended has an entry, and one that runs has none", () => {
  for (const [name, { run, entries }] of everyLedger()) {
    if (run === null) continue;
    const remembered = entries.some(({ attemptId }) => attemptId === run.attempt.attemptId);
    assertEquals(remembered, isTerminalSystemPhase(run.phase), name);
  }
});

Deno.test("success needs the record and another boot, or nothing that asks for one", () => {
  for (const [state, ledger] of Object.entries(SAMPLE_LEDGERS)) {
    const same = recoverRun(ledger, FIRST_BOOT, LATER_MS).ledger;
    if (isUpgrading(ledger)) assert(isUpgrading(same), `${state}: ended by a restart of the updater`);
    const { run } = recoverRun(ledger, NEXT_BOOT, LATER_MS).ledger;
    if (!isUpgrading(ledger)) continue;
    assertEquals(run?.phase, ledger.run?.phase === "rebooting" ? "succeeded" : "failed", state);
    assertEquals(run?.summary.bootIdAfter, NEXT_BOOT.bootId, state);
  }
});
