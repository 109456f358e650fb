/**
 * Colours, by meaning. Whether there are any is decided once, where the output is known.
 *
 * @module
 */

/** What a text is, for the eye. */
export type Tone = "good" | "busy" | "bad" | "faint" | "strong";

/** Puts a tone on a text; the identity when there are no colours. */
export type Paint = (text: string, tone: Tone | undefined) => string;

const CODES: Readonly<Record<Tone, number>> = { good: 32, busy: 33, bad: 31, faint: 2, strong: 1 };

/** No colours: pipes, files, `NO_COLOR`. */
export const plainPaint: Paint = (text) => text;

/** ANSI colours from the terminal's own palette, so that they fit its background. */
export const ansiPaint: Paint = (text, tone) =>
  tone === undefined || text === "" ? text : `\u001b[${CODES[tone]}m${text}\u001b[0m`;
