/**
 * What a failed command means, from its last words: the one place in which the texts of apt and dpkg are read.
 *
 * @module
 */
import { bounded } from "../../../contracts/formats.ts";
import type { UpdaterFailure } from "../core/failure_class.ts";

/** Steps whose failures differ in what they mean when nothing else is known. */
export type AptStep = "look" | "refresh" | "simulate" | "download" | "configure" | "upgrade";

/** What a failure means. */
export interface Judgement {
  readonly reason: UpdaterFailure;
  /** The line that says so, or the last error. */
  readonly error: string;
}

interface Rule {
  readonly pattern: RegExp;
  readonly reason: UpdaterFailure;
  /** Steps in which the words mean it. Default all */
  readonly steps?: readonly AptStep[];
}

/** In order: the first that fits any line decides. */
const RULES: readonly Rule[] = [
  {
    pattern:
      /Could not get lock|Unable to acquire the dpkg frontend lock|Unable to lock (?:directory|the)|dpkg frontend lock was locked|status database area is locked/,
    reason: "LockTimeout",
  },
  { pattern: /No space left on device|don't have enough free space/, reason: "DiskFull" },
  { pattern: /Read-only file system/, reason: "ReadOnlyFileSystem" },
  {
    pattern: /is not valid yet|Not live until|created in the future|will be valid in/i,
    reason: "ReleaseNotYetValid",
    steps: ["refresh"],
  },
  {
    pattern: /Release file for .* is expired|is expired \(invalid since/,
    reason: "ReleaseExpired",
    steps: ["refresh"],
  },
  {
    pattern: /changed its '(?:Origin|Label|Suite|Codename|Version)' value/,
    reason: "ReleaseInfoChanged",
    steps: ["refresh"],
  },
  {
    pattern: /Hash Sum mismatch|File has unexpected size|Hashes of expected file/,
    reason: "HashMismatch",
  },
  {
    pattern:
      /NO_PUBKEY|Missing key|signatures? (?:couldn't|were|was|is) (?:be verified|invalid|not)|is not signed|BADSIG|EXPKEYSIG|REVKEYSIG|OpenPGP signature verification failed|At least one invalid signature|signatures? could(?:n't| not) be verified|cannot be authenticated/i,
    reason: "SignatureInvalid",
  },
  {
    pattern:
      /dpkg was interrupted|you must manually run|parsing file '\/var\/lib\/dpkg|info database format|Sub-process .*dpkg.*received|unable to open|Unmet dependencies/i,
    reason: "DpkgBroken",
    steps: ["look", "simulate", "download", "configure"],
  },
];

const BY_STEP: Readonly<Record<AptStep, UpdaterFailure>> = {
  look: "DpkgBroken",
  refresh: "IndexRefreshFailed",
  simulate: "SimulationFailed",
  download: "DownloadFailed",
  configure: "DpkgBroken",
  upgrade: "UpgradeFailed",
};

/** What of an output is an error, the most telling last. */
function errorLines(lines: readonly string[]): string[] {
  const marked = lines.filter((line) => /^(?:E:|Err:|W:|dpkg: error|dpkg: )/.test(line));
  return marked.length > 0 ? marked : [...lines];
}

/**
 * What a failed command means.
 *
 * @param step What it was to do
 * @param lines Its output, as lines, errors included
 */
export function judgeFailure(step: AptStep, lines: readonly string[]): Judgement {
  for (const { pattern, reason, steps } of RULES) {
    if (steps !== undefined && !steps.includes(step)) continue;
    const line = lines.find((one) => pattern.test(one));
    if (line !== undefined) return { reason, error: bounded(line) };
  }
  const errors = errorLines(lines);
  const error = errors.find((line) => line.startsWith("E:")) ?? errors.at(-1) ?? "it said nothing";
  return { reason: BY_STEP[step], error: bounded(error) };
}

/**
 * Whether a fetch that failed may succeed in a moment, unchanged.
 *
 * @param reason What its failure means
 */
export function isWorthRepeating(reason: string): boolean {
  return reason === "IndexRefreshFailed" || reason === "DownloadFailed" || reason === "HashMismatch";
}
