/**
 * One executor per effect of a system upgrade, typed so that a missing one does not compile. An executor runs an effect
 * and returns what happened; it throws only when the signal aborts or for a fault of this program.
 *
 * @module
 */
import { PACKAGES_NAMED_MAX } from "../../contracts/limits.ts";
import type { PackageGroup } from "../../contracts/system_upgrade.ts";
import type { UpdaterFailure } from "./core/failure_class.ts";
import { upgradeFinding } from "./core/ledger.ts";
import { SPACE_RESERVES, spaceProblem, type SpaceReserves } from "./core/space_rule.ts";
import type { UpgradeEffect, UpgradeEffectKind } from "./core/upgrade_effect.ts";
import type { UpgradeEventBody } from "./core/upgrade_event.ts";
import type { PackageManager, StepResult, UpgradeHost } from "./ports.ts";
import { protectedRemovals } from "./protected_packages.ts";

/** The outside, as the executors use it. */
export interface StepContext {
  readonly packages: PackageManager;
  readonly host: UpgradeHost;
  /** Room that is kept free. Default {@link SPACE_RESERVES} */
  readonly reserves?: SpaceReserves;
}

type Executor<K extends UpgradeEffectKind> = (
  context: StepContext,
  effect: Extract<UpgradeEffect, { kind: K }>,
  signal: AbortSignal,
) => Promise<UpgradeEventBody>;

function failed(reason: UpdaterFailure, error: string): UpgradeEventBody {
  return { kind: "StepFailed", finding: upgradeFinding(reason, error) };
}

/** The event of a step that either did what it should or not. */
function eventOf<T>(result: StepResult<T>, done: (value: T) => UpgradeEventBody): UpgradeEventBody {
  return result.ok ? done(result.value) : { kind: "StepFailed", finding: result.finding };
}

function group(names: readonly string[], count = names.length): PackageGroup {
  return { count, names: names.slice(0, PACKAGES_NAMED_MAX) };
}

function named(packages: readonly { readonly name: string }[]): PackageGroup {
  return group(packages.map(({ name }) => name));
}

function few(names: readonly string[]): string {
  const more = names.length - PACKAGES_NAMED_MAX;
  return `${names.slice(0, PACKAGES_NAMED_MAX).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

async function roomFor({ host, reserves }: StepContext, archiveBytes: number): Promise<UpgradeEventBody | undefined> {
  const problem = spaceProblem(await host.spaces(), archiveBytes, reserves ?? SPACE_RESERVES);
  return problem === undefined ? undefined : failed("DiskFull", problem);
}

const EXECUTORS: { readonly [K in UpgradeEffectKind]: Executor<K> } = {
  CheckHost: async (context, _effect, signal) =>
    await roomFor(context, 0) ??
      eventOf(
        await context.packages.look(signal),
        ({ readOnly, unfinished }) =>
          readOnly.length > 0
            ? failed("ReadOnlyFileSystem", `cannot be written to: ${few(readOnly)}`)
            : { kind: "HostChecked", pending: unfinished.length > 0 },
      ),
  ConfigurePending: async ({ packages }, { attemptId }, signal) =>
    eventOf(await packages.configure(attemptId, signal), () => ({ kind: "PendingConfigured" })),
  RefreshIndex: async ({ packages }, _effect, signal) =>
    eventOf(await packages.refresh(signal), () => ({ kind: "IndexRefreshed" })),
  SimulateUpgrade: async (context, _effect, signal) => {
    const result = await context.packages.simulate(signal);
    if (!result.ok) return { kind: "StepFailed", finding: result.finding };
    const { plan, downloadBytes } = result.value;
    const going = protectedRemovals(plan);
    if (going.length > 0) {
      return failed("ProtectedRemoval", `the upgrade would remove ${few(going)}: nothing was changed`);
    }
    return await roomFor(context, downloadBytes) ?? {
      kind: "UpgradeSimulated",
      upgraded: named(plan.upgraded),
      installed: named(plan.installed),
      removed: named(plan.removed),
      kept: group(plan.kept, Math.max(plan.keptCount, plan.kept.length)),
      downloadBytes,
      rebootDue: await context.host.isRebootDue(),
    };
  },
  DownloadPackages: async ({ packages }, _effect, signal) =>
    eventOf(await packages.download(signal), () => ({ kind: "PackagesDownloaded" })),
  UpgradePackages: async ({ packages }, { attemptId, mayRemove }, signal) =>
    eventOf(await packages.upgrade({ attemptId, mayRemove }, signal), () => ({ kind: "PackagesUpgraded" })),
  AuditPackages: async ({ packages }, _effect, signal) => {
    const result = await packages.look(signal);
    if (!result.ok) return { kind: "StepFailed", finding: result.finding };
    const { unfinished } = result.value;
    if (unfinished.length > 0) {
      return failed("AuditFailed", `packages are not in a final state: ${few(unfinished)}`);
    }
    await packages.tidy(signal);
    return { kind: "PackagesAudited" };
  },
  Reboot: async ({ host }, _effect, signal) => {
    const result = await host.reboot(signal);
    return result.ok ? failed("RebootRefused", "it did not begin") : { kind: "StepFailed", finding: result.finding };
  },
};

/**
 * Runs one effect.
 *
 * @param context The outside
 * @param effect The effect
 * @param signal Ends the wait when the updater stops; a change of packages goes on by itself
 */
export function executeStep(
  context: StepContext,
  effect: UpgradeEffect,
  signal: AbortSignal,
): Promise<UpgradeEventBody> {
  const executor = EXECUTORS[effect.kind] as Executor<UpgradeEffectKind>;
  return executor(context, effect as never, signal);
}
