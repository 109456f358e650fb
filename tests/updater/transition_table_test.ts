import { assert, assertEquals } from "@std/assert";
import type { Effect } from "../../updater/core/effect.ts";
import { publicPhase, recordDecoder, type UpdaterRecord } from "../../updater/core/record.ts";
import { recover } from "../../updater/core/recover.ts";
import { type Outcome, transition } from "../../updater/core/transition.ts";
import { SAMPLE_EVENTS, SAMPLE_PATHS, SAMPLE_RECORDS, SAMPLE_START_MS } from "../fakes/upgrade_samples.ts";
import { assertGolden } from "../golden/golden.ts";

const LATER_MS = SAMPLE_START_MS + 1_000;

function stateName({ transaction }: UpdaterRecord): string {
  if (transaction === null) return "no transaction";
  return transaction.step === "none" ? transaction.phase : `${transaction.phase} (${transaction.step})`;
}

function effectName(effect: Effect): string {
  switch (effect.kind) {
    case "SelectBinary":
    case "RestorePrevious":
      return `${effect.kind} ${effect.path.slice(effect.path.lastIndexOf("-") + 1)}`;
    case "StartService":
      return `${effect.kind} ${effect.role}`;
    default:
      return effect.kind;
  }
}

function row(event: string, { record, effects }: Outcome, before: UpdaterRecord): string {
  const name = stateName(record);
  const phase = record.transaction === null ? "" : publicPhase(record.transaction);
  const next = record === before ? "unchanged" : `${name} [${phase}]`;
  return `  ${event.padEnd(36)}${next.padEnd(40)}${effects.map(effectName).join(", ") || "-"}`.trimEnd();
}

function render(): string {
  const lines = [
    "State machine of an upgrade: state, event, next state [public phase], effects. Events not listed are ignored.",
    "Versions: 1.0.0 is the previous binary, 2.0.0 the target; 3.0.0 is another attempt's target.",
  ];
  for (const [state, record] of Object.entries(SAMPLE_RECORDS)) {
    lines.push("", state);
    const ignored: string[] = [];
    for (const [name, body] of Object.entries(SAMPLE_EVENTS)) {
      const outcome = transition(record, { ...body, atMs: LATER_MS });
      if (outcome.record === record && outcome.effects.length === 0) ignored.push(name);
      else lines.push(row(name, outcome, record));
    }
    if (ignored.length === Object.keys(SAMPLE_EVENTS).length) lines.push("  everything is ignored");
  }
  lines.push("", "", "Recovery: what a started updater does with the journal that it finds.", "");
  for (const [state, record] of Object.entries(SAMPLE_RECORDS)) {
    lines.push(row(state, recover(record, LATER_MS), record));
  }
  return `${lines.join("\n")}\n`;
}

Deno.test("the transition and recovery tables are the reviewed ones", async () => {
  await assertGolden("updater_transitions.txt", render());
});

Deno.test("transition() and recover() are total, and every record they make is a legal journal", () => {
  const decode = recordDecoder(SAMPLE_PATHS);
  for (const record of Object.values(SAMPLE_RECORDS)) {
    assertEquals(
      decode(JSON.parse(JSON.stringify(recover(record, LATER_MS).record)), ""),
      recover(record, LATER_MS).record,
    );
    for (const body of Object.values(SAMPLE_EVENTS)) {
      const next = transition(record, { ...body, atMs: LATER_MS }).record;
      assertEquals(decode(JSON.parse(JSON.stringify(next)), ""), next);
    }
  }
});

Deno.test("transition() answers an event with at most one effect, and never starts a candidate without a stop", () => {
  for (const [state, record] of Object.entries(SAMPLE_RECORDS)) {
    for (const body of Object.values(SAMPLE_EVENTS)) {
      const { effects } = transition(record, { ...body, atMs: LATER_MS });
      assert(effects.length <= 1, `${state} ${body.kind}`);
      const [effect] = effects;
      if (effect?.kind === "StartService" && effect.role === "candidate") {
        assertEquals([state, body.kind], ["activating (starting)", "BinarySelected"]);
      }
    }
  }
});
