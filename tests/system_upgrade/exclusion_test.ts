import { assert, assertEquals } from "@std/assert";
import { silentLogger } from "../../lib/log.ts";
import { AdmissionLock } from "../../updater/admission_lock.ts";
import { admit } from "../../updater/core/admission.ts";
import { EMPTY_RECORD } from "../../updater/core/record.ts";
import { EMPTY_LEDGER, type Ledger } from "../../updater/system_upgrade/core/ledger.ts";
import { SystemUpgradeService } from "../../updater/system_upgrade/system_upgrade_service.ts";
import { UpgradeRunner } from "../../updater/system_upgrade/upgrade_runner.ts";
import type { StepContext } from "../../updater/system_upgrade/execute_step.ts";
import { FIRST_BOOT, LEDGER_START_MS, runUid, sampleSystemAttempt } from "../fakes/ledger_samples.ts";
import { sampleAttempt } from "../fakes/upgrade_samples.ts";

function never(): Promise<never> {
  return new Promise(() => {});
}

/** A part whose first step never ends. */
function service(lock: AdmissionLock, agentSide: { active: boolean; quarantined: boolean }) {
  const stored: Ledger[] = [];
  const context: StepContext = {
    packages: {
      look: never,
      refresh: never,
      simulate: never,
      download: never,
      configure: never,
      upgrade: never,
      tidy: never,
    },
    host: { spaces: never, isRebootDue: never, reboot: never },
  };
  const clock = { nowMs: () => LEDGER_START_MS };
  const store = { store: (ledger: Ledger) => Promise.resolve(void stored.push(ledger)) };
  const onFatal = (error: unknown) => {
    throw error;
  };
  const runner = new UpgradeRunner({ ledger: EMPTY_LEDGER, store, context, clock, log: silentLogger, onFatal });
  const upgrades = new SystemUpgradeService({
    runner,
    ledger: { reserveComplete: true },
    lock,
    agentSide: () => agentSide,
    deviceId: "device-1",
    boot: FIRST_BOOT,
    clock,
    log: silentLogger,
    stopping: () => false,
  });
  return { upgrades, stored };
}

Deno.test("a system upgrade and an agent upgrade exclude one another", async () => {
  const agentSide = { active: true, quarantined: false };
  const { upgrades } = service(new AdmissionLock(), agentSide);
  const attempt = sampleSystemAttempt();
  const busy = await upgrades.request(attempt, attempt);
  assert(!busy.ok);
  assertEquals([busy.refusal.code, busy.refusal.retryable], ["E_BUSY", true]);
  agentSide.active = false;
  assert((await upgrades.request(attempt, attempt)).ok);
  const facts = { deviceId: "device-1", arch: "x86_64", schemes: ["https"], reserveComplete: true, stopping: false };
  const decisions = [true, false].map((systemUpgradeActive) => {
    const decision = admit(EMPTY_RECORD, sampleAttempt(), "a".repeat(64), { ...facts, systemUpgradeActive });
    return decision.kind === "refuse" ? decision.refusal.code : decision.kind;
  });
  assertEquals([upgrades.active, ...decisions], [true, "E_BUSY", "admit"]);
});

Deno.test("two attempts that come at the same moment: one runs, and the other is busy", async () => {
  const { upgrades, stored } = service(new AdmissionLock(), { active: false, quarantined: false });
  const attempts = [1, 2].map((index) => sampleSystemAttempt({ attemptId: runUid(index) }));
  const answers = await Promise.all(attempts.map((attempt) => upgrades.request(attempt, attempt)));
  assertEquals(answers.map((answer) => answer.ok ? answer.status.phase : answer.refusal.code), ["checking", "E_BUSY"]);
  assertEquals(stored.length, 1);
});

Deno.test("while an attempt of the other kind is being admitted, a request waits for its end", async () => {
  const lock = new AdmissionLock();
  const agentSide = { active: false, quarantined: false };
  const { upgrades } = service(lock, agentSide);
  const admission = Promise.withResolvers<void>();
  const held = lock.hold(() => admission.promise);
  const attempt = sampleSystemAttempt();
  const request = upgrades.request(attempt, attempt);
  agentSide.active = true;
  admission.resolve();
  await held;
  const answer = await request;
  assert(!answer.ok);
  assertEquals(answer.refusal.code, "E_BUSY");
});
