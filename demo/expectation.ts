/**
 * What a step of the demo must end as, compared with what it did end as. Pure.
 *
 * @module
 */
import type { AgentUpgradeStatus, UpgradePhase } from "../contracts/agent_upgrade.ts";
import { wrapText } from "./show/wrap_text.ts";

/** One comparison. */
export interface Finding {
  readonly what: string;
  readonly met: boolean;
  /** Both sides in words; the same when it is met. */
  readonly expected: string;
  readonly found: string;
}

/** Phases of an attempt that completes. */
export const COMPLETES: readonly UpgradePhase[] = ["preparing", "stopping", "starting", "complete"];
/** Phases of an attempt that is refused before anything is switched. */
export const REFUSED: readonly UpgradePhase[] = ["preparing", "failed"];
/** Phases of an attempt whose candidate was started and taken back. */
export const ROLLED_BACK: readonly UpgradePhase[] = ["preparing", "stopping", "starting", "rolling-back", "failed"];

/** How an attempt must end. */
export interface ExpectedEnd {
  /** Phases in order; the last one is the end. */
  readonly phases: readonly UpgradePhase[];
  readonly reason?: string;
  readonly failureClass?: string;
  /** Version that must run in the end. */
  readonly runs: string;
}

/** How a device stands after an attempt. */
export interface FoundEnd {
  readonly status: AgentUpgradeStatus;
  /** Version that the link selects. */
  readonly selected: string;
  /** Whether an agent lives. */
  readonly lives: boolean;
}

/**
 * Compares two values that have words.
 *
 * @param what What is compared
 * @param expected What it must be
 * @param found What it is
 */
export function expectEqual(
  what: string,
  expected: string | number | boolean,
  found: string | number | boolean,
): Finding {
  return { what, met: expected === found, expected: String(expected), found: String(found) };
}

/**
 * Compares the end of an attempt: phases, reason, class, the binary that is selected, and that an agent runs.
 *
 * @param what Which attempt on which device
 * @param expected How it must end
 * @param found How it ended
 */
export function expectEnd(what: string, expected: ExpectedEnd, found: FoundEnd): Finding {
  const { status, selected, lives } = found;
  return expectEqual(
    what,
    endText(expected.phases, expected.reason, expected.failureClass, `${expected.runs} runs`),
    endText(
      status.transitions.map(({ phase }) => phase),
      status.reason,
      status.failureClass,
      lives ? `${selected} runs` : `no agent runs, ${selected} is selected`,
    ),
  );
}

function endText(
  phases: readonly UpgradePhase[],
  reason: string | undefined,
  failureClass: string | undefined,
  runs: string,
): string {
  const why = [reason, failureClass].filter((part) => part !== undefined).join(", ");
  return `${phases.join(" > ")}${why === "" ? "" : ` (${why})`}; ${runs}`;
}

/**
 * Equal texts counted, in the order in which they first come: `4 x a; 1 x b`.
 *
 * @param texts The texts
 */
export function tally(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].map(([text, count]) => `${count} x ${text}`).join("; ");
}

/** Lines are broken before this many characters. */
const WIDTH_CHARS = 100;
/** What follows the first line of a finding stands under its text. */
const INDENT = " ".repeat(9);

/**
 * A finding as lines; one that is not met has the two sides below one another.
 *
 * @param finding The finding
 */
export function findingLines({ what, met, expected, found }: Finding): string {
  if (met) return `  ok     ${wrapText(`${what}: ${found}`, WIDTH_CHARS, INDENT).trimStart()}`;
  return `  WRONG  ${what}\n${INDENT}expected  ${expected}\n${INDENT}found     ${found}\n`;
}
