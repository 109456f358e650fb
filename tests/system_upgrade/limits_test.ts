import { assert, assertEquals } from "@std/assert";
import { SystemIntentWatch } from "../../agent/system_upgrade/system_intent_watch.ts";
import { BUCKET_SPECS, BUCKETS, systemUpgradeKey } from "../../contracts/buckets.ts";
import {
  COMMAND_NAME_MAX_CHARS,
  COMMAND_REPORT_MAX_BYTES,
  DETAIL_MAX_CHARS,
  LEDGER_ENTRIES_MAX,
  LEDGER_MAX_BYTES,
  LEDGER_RESERVE_SLOTS,
  PACKAGE_NAME_MAX_CHARS,
  PACKAGES_NAMED_MAX,
  SHORT_TEXT_MAX_CHARS,
  SYSTEM_INTENTS_MAX,
  SYSTEM_STATUS_MAX_BYTES,
  TRANSITIONS_MAX,
} from "../../contracts/limits.ts";
import { encodeJournal } from "../../lib/journal/journal_codec.ts";
import { silentLogger } from "../../lib/log.ts";
import type { Ledger, LedgerEntry } from "../../updater/system_upgrade/core/ledger.ts";
import { ledgerDecoder } from "../../updater/system_upgrade/core/ledger.ts";
import { statusOfRun } from "../../updater/system_upgrade/core/upgrade_status.ts";
import { upgradeTransition } from "../../updater/system_upgrade/core/upgrade_transition.ts";
import { executeStep } from "../../updater/system_upgrade/execute_step.ts";
import { bytesOf } from "../fakes/agent_samples.ts";
import { FakeClock } from "../fakes/fake_clock.ts";
import {
  accepted,
  LEDGER_START_MS,
  runUid,
  SAMPLE_LEDGERS,
  sampleSystemAttempt,
  SIMULATED,
} from "../fakes/ledger_samples.ts";
import { MemoryBroker } from "../fakes/memory_bus.ts";

const AT = new Date(LEDGER_START_MS).toISOString();

function entry(index: number): LedgerEntry {
  return {
    attemptId: runUid(index),
    attemptDigest: "f".repeat(64),
    phase: "succeeded",
    reason: `R${"x".repeat(SHORT_TEXT_MAX_CHARS - 1)}`,
    startedAt: AT,
    at: AT,
    expiresAt: AT,
  };
}

/** Every member at its longest, in characters that take the most bytes where any may stand. */
function fullest(): Ledger {
  const names = Array.from(
    { length: PACKAGES_NAMED_MAX },
    (_, index) => `${index}`.padEnd(PACKAGE_NAME_MAX_CHARS, "p"),
  );
  const group = { count: 99_999, names };
  const long = "\u20ac".repeat(DETAIL_MAX_CHARS);
  const short = "s".repeat(SHORT_TEXT_MAX_CHARS);
  const failedCommand = { command: "c".repeat(COMMAND_NAME_MAX_CHARS), lastLines: [""] };
  const sizeOf = () => new TextEncoder().encode(JSON.stringify(failedCommand)).byteLength;
  while (sizeOf() + 260 < COMMAND_REPORT_MAX_BYTES && failedCommand.lastLines.length < 20) {
    failedCommand.lastLines.push("l".repeat(250));
  }
  return {
    clockMs: Number.MAX_SAFE_INTEGER,
    lostUntilMs: Number.MAX_SAFE_INTEGER,
    rebootOwedBootId: short,
    entries: Array.from({ length: LEDGER_ENTRIES_MAX }, (_, index) => entry(index + 10)),
    run: {
      attempt: sampleSystemAttempt(),
      digest: "f".repeat(64),
      phase: "upgrading",
      step: "auditing",
      bootId: short,
      startedAt: AT,
      updatedAt: AT,
      transitions: Array.from(
        { length: TRANSITIONS_MAX },
        () => ({ phase: "downloading", at: AT, code: `R${"x".repeat(127)}` }),
      ),
      touched: true,
      mayRemove: true,
      summary: {
        upgraded: group,
        installed: group,
        removed: group,
        kept: group,
        downloadedBytes: Number.MAX_SAFE_INTEGER,
        kernelBefore: short,
        kernelAfter: short,
        bootIdBefore: short,
        bootIdAfter: short,
      },
      detail: long,
      finding: { reason: "ReadOnlyFileSystem", failureClass: "environment", error: long, failedCommand },
    },
  };
}

Deno.test("the fullest ledger fits into its file, and its status into the bucket", () => {
  const ledger = fullest();
  assertEquals(ledgerDecoder(JSON.parse(JSON.stringify(ledger)), ""), ledger);
  const { byteLength } = encodeJournal({ schema: 1, seq: Number.MAX_SAFE_INTEGER, body: ledger }, LEDGER_MAX_BYTES);
  assert(byteLength > LEDGER_MAX_BYTES / 2, `${byteLength} bytes: the limit is far too high`);
  assert(ledger.run !== null);
  assert(new TextEncoder().encode(JSON.stringify(statusOfRun(ledger.run))).byteLength <= SYSTEM_STATUS_MAX_BYTES);
});

Deno.test("the ledger's reserve is enough for every write from the first change of a package on", () => {
  const checking = SAMPLE_LEDGERS["checking"];
  assert(checking !== undefined);
  let ledger: Ledger = checking;
  let writes = 0;
  const events = [
    { kind: "HostChecked", pending: true },
    { kind: "PendingConfigured" },
    { kind: "IndexRefreshed" },
    SIMULATED,
    { kind: "PackagesDownloaded" },
    { kind: "PackagesUpgraded" },
    { kind: "PackagesAudited" },
  ] as const;
  for (const body of events) {
    const next: Ledger = upgradeTransition(ledger, { ...body, atMs: LEDGER_START_MS }).ledger;
    assert(next !== ledger, body.kind);
    ledger = next;
    if (ledger.run?.touched === true) writes++;
  }
  // And the end in the next boot.
  assert(writes + 1 <= LEDGER_RESERVE_SLOTS, `${writes} writes`);
});

Deno.test("a summary counts every package and names the first ones", async () => {
  const names = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `lab-${index}`, from: "1", to: "2" }));
  const never = (): Promise<never> => Promise.reject(new RangeError("not asked"));
  for (const count of [PACKAGES_NAMED_MAX - 1, PACKAGES_NAMED_MAX, PACKAGES_NAMED_MAX + 1]) {
    const plan = { upgraded: names(count), installed: [], removed: [], kept: [], keptCount: 0 };
    const simulate = () => Promise.resolve({ ok: true, value: { plan, downloadBytes: 0 } } as const);
    const packages = {
      look: never,
      refresh: never,
      simulate,
      download: never,
      configure: never,
      upgrade: never,
      tidy: never,
    };
    const host = { spaces: () => Promise.resolve([]), isRebootDue: () => Promise.resolve(false), reboot: never };
    const event = await executeStep({ packages, host }, { kind: "SimulateUpgrade" }, new AbortController().signal);
    assert(event.kind === "UpgradeSimulated");
    assertEquals([event.upgraded.count, event.upgraded.names.length], [count, Math.min(count, PACKAGES_NAMED_MAX)]);
  }
});

Deno.test("an agent keeps as many intents as its limit says", async () => {
  const clock = new FakeClock();
  const broker = new MemoryBroker(() => clock.nowMs());
  const operator = broker.connect();
  await operator.ensureBuckets(BUCKET_SPECS, 100, 1);
  const bucket = await operator.bucket(BUCKETS.systemUpgradeIntent);
  const write = async (index: number) => {
    const { attempt } = accepted(sampleSystemAttempt({ attemptId: runUid(index) }));
    await bucket.put(systemUpgradeKey("device-1", runUid(index)), bytesOf(attempt));
  };
  for (let index = 0; index < SYSTEM_INTENTS_MAX - 1; index++) await write(index);
  const ending = new AbortController();
  const watch = new SystemIntentWatch({
    deviceId: "device-1",
    bind: () => Promise.resolve(bucket),
    clock,
    log: silentLogger,
    onChange: () => {},
  });
  const running = watch.run(ending.signal);
  const counts: number[] = [];
  for (const index of [-1, SYSTEM_INTENTS_MAX, SYSTEM_INTENTS_MAX + 1]) {
    if (index >= 0) await write(index);
    await clock.advance(1_000);
    counts.push(watch.intents.length);
  }
  assertEquals(counts, [SYSTEM_INTENTS_MAX - 1, SYSTEM_INTENTS_MAX, SYSTEM_INTENTS_MAX]);
  // Room again: the one that was left out comes.
  await bucket.delete(systemUpgradeKey("device-1", runUid(0)));
  await clock.advance(5_000);
  assertEquals(watch.intents.at(-1)?.runId, runUid(SYSTEM_INTENTS_MAX + 1));
  ending.abort();
  await running;
});
