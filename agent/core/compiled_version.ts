/**
 * Whether the version compiled into this agent fits the updater's transaction (`Fleet agent upgrades`, Readiness and
 * commit; DESIGN 6: it must equal the target in `activating` only, elsewhere a difference is reported).
 *
 * @module
 */
import type { ManagedPaths } from "../../contracts/managed_paths.ts";
import { versionOfBinary } from "../../contracts/managed_paths.ts";
import type { TransactionView } from "../../contracts/updater_protocol.ts";

/** How the compiled version stands to the transaction. */
export type VersionVerdict =
  | { readonly kind: "fits" }
  /** Not the binary that the journal lets expect; it runs all the same. */
  | { readonly kind: "differs"; readonly message: string }
  /** The wrong binary was started by an activation: it must not get READY. */
  | { readonly kind: "wrong"; readonly message: string };

function previousVersion(paths: ManagedPaths, previousPath: string): string | undefined {
  try {
    return versionOfBinary(paths, previousPath);
  } catch {
    // A path that root chose by a repair need not be a managed one.
    return undefined;
  }
}

/**
 * Judges the compiled version.
 *
 * @param compiled The version compiled into this program
 * @param transaction The updater's transaction, or null
 * @param paths The managed paths, for the version that the previous path names
 */
export function judgeVersion(
  compiled: string,
  transaction: TransactionView | null,
  paths: ManagedPaths,
): VersionVerdict {
  if (transaction === null) return { kind: "fits" };
  const { phase, targetVersion, previousPath } = transaction;
  if (phase === "activating") {
    if (compiled === targetVersion) return { kind: "fits" };
    return { kind: "wrong", message: `this agent is ${compiled}, the activation is of ${targetVersion}` };
  }
  const expected = phase === "committed" ? targetVersion : previousVersion(paths, previousPath);
  if (expected === undefined || expected === compiled) return { kind: "fits" };
  return { kind: "differs", message: `this agent is ${compiled}, the journal in ${phase} lets expect ${expected}` };
}
