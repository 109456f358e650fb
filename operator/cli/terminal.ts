/**
 * Where a command writes and what the place can show.
 *
 * @module
 */
import { FleetError } from "../../contracts/errors.ts";
import { ansiPaint, type Paint, plainPaint } from "./render/paint.ts";

/** The two outputs of a command. Writes end in order; a closed output is `E_OUTPUT_CLOSED`. */
export interface Terminal {
  /** Results. */
  out(text: string): Promise<void>;
  /** Errors, warnings and progress. */
  err(text: string): Promise<void>;
  /** Columns of the terminal that shows the results; null for a pipe or a file, where nothing is cut. */
  readonly width: number | null;
  /** Colours of the results. */
  readonly paint: Paint;
  /** Whether a person watches the errors as they come. */
  readonly errIsTerminal: boolean;
  /** Asks a person; null when there is nobody to ask. Only a plain yes is one. */
  confirm(question: string): Promise<boolean | null>;
}

interface Sink {
  write(bytes: Uint8Array): Promise<number>;
  isTerminal(): boolean;
}

/** The standard outputs of this process. `NO_COLOR` turns colours off, whatever its value (no-color.org). */
export function processTerminal(environment: (name: string) => string | undefined): Terminal {
  const isTerminal = Deno.stdout.isTerminal();
  const colorless = (environment("NO_COLOR") ?? "") !== "" || environment("TERM") === "dumb";
  return {
    out: (text) => writeAll(Deno.stdout, text),
    err: (text) => writeAll(Deno.stderr, text),
    width: isTerminal ? consoleWidth() : null,
    paint: isTerminal && !colorless ? ansiPaint : plainPaint,
    errIsTerminal: Deno.stderr.isTerminal(),
    confirm,
  };
}

/** Bytes of an answer that are read: a word. */
const ANSWER_MAX_BYTES = 64;

async function confirm(question: string): Promise<boolean | null> {
  if (!Deno.stdin.isTerminal() || !Deno.stderr.isTerminal()) return null;
  await writeAll(Deno.stderr, `${question} [y/N] `);
  const buffer = new Uint8Array(ANSWER_MAX_BYTES);
  const length = await Deno.stdin.read(buffer) ?? 0;
  return /^y(?:es)?$/i.test(new TextDecoder().decode(buffer.subarray(0, length)).trim());
}

function consoleWidth(): number | null {
  try {
    const { columns } = Deno.consoleSize();
    return columns > 0 ? columns : null;
  } catch {
    // A terminal that does not tell its size.
    return null;
  }
}

async function writeAll(sink: Sink, text: string): Promise<void> {
  let rest = new TextEncoder().encode(text);
  try {
    while (rest.byteLength > 0) rest = rest.subarray(await sink.write(rest));
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) {
      throw new FleetError("Cannot write: nobody reads the output any more", {
        code: "E_OUTPUT_CLOSED",
        cause: error,
      });
    }
    throw error;
  }
}
