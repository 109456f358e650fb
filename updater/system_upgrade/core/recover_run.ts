/**
 * What a starting updater does with the system upgrade that it finds. In the boot in which the attempt was accepted it
 * goes on where it stood; in another one, the record of a finished upgrade means success, and its absence that the device
 * went down in between (DESIGN 5, System upgrades).
 *
 * @module
 */
import { isUpgrading, type Ledger, type LedgerRun, upgradeFinding } from "./ledger.ts";
import { moveRun } from "./rewrite_ledger.ts";
import { effectOf, type UpgradeOutcome } from "./upgrade_transition.ts";

/** What is known of the boot in which the updater starts. */
export interface BootFacts {
  readonly bootId: string;
  /** Release of the kernel that runs. */
  readonly kernel: string;
}

/**
 * The ledger and the effects with which a started updater goes on.
 *
 * @param ledger The ledger as it was on the disk
 * @param boot The boot
 * @param atMs The time, in ms since the epoch
 */
export function recoverRun(ledger: Ledger, boot: BootFacts, atMs: number): UpgradeOutcome {
  const settled = withoutOwedReboot(ledger, boot);
  const { run } = settled;
  if (run === null || !isUpgrading(settled)) return { ledger: settled, effects: [] };
  if (run.bootId === boot.bootId) {
    const effect = effectOf(run);
    return { ledger: settled, effects: effect === undefined ? [] : [effect] };
  }
  const after: LedgerRun = {
    ...run,
    summary: { ...run.summary, bootIdAfter: boot.bootId, kernelAfter: boot.kernel },
  };
  if (run.phase === "rebooting") {
    const changed = [run.summary.upgraded, run.summary.installed, run.summary.removed]
      .some((group) => (group?.count ?? 0) > 0);
    const reason = changed ? "Upgraded" : "Rebooted";
    return { ledger: moveRun(settled, after, atMs, { phase: "succeeded", reason }), effects: [] };
  }
  // The device is in another boot than the one whose packages were changed: nothing is owed for it any more.
  const { rebootOwedBootId: _over, ...failed } = moveRun(settled, after, atMs, {
    phase: "failed",
    finding: upgradeFinding(
      "Interrupted",
      `the device went down while it was ${run.phase}, before the upgrade was recorded as done`,
    ),
  });
  return { ledger: failed, effects: [] };
}

/** A reboot that was owed has happened, whoever ordered it. */
function withoutOwedReboot(ledger: Ledger, { bootId }: BootFacts): Ledger {
  if (ledger.rebootOwedBootId === undefined || ledger.rebootOwedBootId === bootId) return ledger;
  const { rebootOwedBootId: _over, ...rest } = ledger;
  return rest;
}
