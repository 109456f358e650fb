/**
 * Chooses the screen for the place where the output goes.
 *
 * @module
 */
import { LiveScreen } from "./live_screen.ts";
import { PlainScreen } from "./plain_screen.ts";
import type { Screen, Sink } from "./screen.ts";

/** Smaller terminals have no room for the table with a story above it. */
const MIN_COLUMNS = 60;
const MIN_ROWS = 16;

/** What the choice depends on. */
export interface ScreenPlace {
  readonly isTerminal: boolean;
  /** Size of the terminal; null when it does not tell. */
  readonly size: { readonly columns: number; readonly rows: number } | null;
  /** Value of `NO_COLOR`, if it is set. */
  readonly noColor: string | undefined;
  /** Value of `TERM`, if it is set. */
  readonly term: string | undefined;
  /** Whether plain lines were asked for. */
  readonly plain: boolean;
}

/**
 * Whether a place gets the live table. `NO_COLOR` counts when it is not empty (no-color.org).
 *
 * @param place The place
 */
export function isLive({ isTerminal, size, noColor = "", term, plain }: ScreenPlace): boolean {
  return isTerminal && !plain && noColor === "" && term !== "dumb" && size !== null &&
    size.columns >= MIN_COLUMNS && size.rows >= MIN_ROWS;
}

/**
 * Opens the screen on the standard output.
 *
 * @param plain Whether plain lines were asked for
 * @param onClosed Called when nobody reads the output any more
 */
export function openScreen(plain: boolean, onClosed: () => void): Screen {
  const place = {
    isTerminal: Deno.stdout.isTerminal(),
    size: consoleSize(),
    noColor: Deno.env.get("NO_COLOR"),
    term: Deno.env.get("TERM"),
    plain,
  };
  const sink = standardOutput(onClosed);
  return isLive(place) ? new LiveScreen(sink, () => consoleSize()?.columns ?? MIN_COLUMNS) : new PlainScreen(sink);
}

function consoleSize(): { columns: number; rows: number } | null {
  try {
    return Deno.consoleSize();
  } catch {
    // Not a terminal, or one that does not tell its size.
    return null;
  }
}

function standardOutput(onClosed: () => void): Sink {
  const encoder = new TextEncoder();
  let open = true;
  return (text) => {
    if (!open) return;
    const bytes = encoder.encode(text);
    try {
      for (let written = 0; written < bytes.length;) written += Deno.stdout.writeSync(bytes.subarray(written));
    } catch (error) {
      if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
      open = false;
      onClosed();
    }
  };
}
