/**
 * Tells a person that work goes on, once it takes longer than they expect.
 *
 * @module
 */
import { PROGRESS_AFTER_MS } from "../../contracts/limits.ts";
import { duration } from "./render/age.ts";
import type { Terminal } from "./terminal.ts";

/** When progress is shown. */
export interface ProgressPace {
  /** Before the first line, in ms. */
  readonly afterMs: number;
  /** Between two lines on a terminal, in ms. */
  readonly everyMs: number;
  /** Between two lines elsewhere, in ms: a log wants few. */
  readonly everyInLogMs: number;
}

const PACE: ProgressPace = { afterMs: PROGRESS_AFTER_MS, everyMs: 1_000, everyInLogMs: 10_000 };
const CLEAR_LINE = "\r\u001b[K";

/** Says how far the work has come: `120 of 400 documents`. */
export type Report = (detail: string) => void;

/**
 * Runs work and shows on the error output that it goes on, if it takes long.
 *
 * @param terminal Where to show it
 * @param what What is done: `reading devices`
 * @param work The work; it may report how far it has come
 * @param pace When to show it. Default after 2 s
 */
export async function withProgress<T>(
  terminal: Pick<Terminal, "err" | "errIsTerminal">,
  what: string,
  work: (report: Report) => Promise<T>,
  pace: ProgressPace = PACE,
): Promise<T> {
  const startMs = performance.now();
  const { errIsTerminal: live } = terminal;
  let detail = "";
  let shown: Promise<void> | undefined;
  const show = () => {
    const text = `fleetctl: ${what}${detail === "" ? "" : `, ${detail}`} (${duration(performance.now() - startMs)})`;
    // Progress that nobody can read must not end the work.
    shown = terminal.err(live ? `${CLEAR_LINE}${text}` : `${text}\n`).catch(() => {});
  };
  let timer = setTimeout(function tick() {
    show();
    timer = setTimeout(tick, live ? pace.everyMs : pace.everyInLogMs);
  }, pace.afterMs);
  try {
    return await work((text) => detail = text);
  } finally {
    clearTimeout(timer);
    if (shown !== undefined) {
      await shown;
      if (live) await terminal.err(CLEAR_LINE).catch(() => {});
    }
  }
}
