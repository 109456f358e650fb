/**
 * How the parts of the story look, the same on every screen.
 *
 * @module
 */
import type { Paint } from "../../operator/cli/render/paint.ts";
import { wrapText } from "./wrap_text.ts";

/** The text of a story as it grows: it knows what was told last, so that parts are apart by one empty line. */
export class StoryText {
  readonly #width: () => number;
  readonly #paint: Paint;
  #tail = "\n\n";

  /**
   * @param width Asks for the characters of a line of prose
   * @param paint Colours
   */
  constructor(width: () => number, paint: Paint) {
    this.#width = width;
    this.#paint = paint;
  }

  /** The heading of a chapter. */
  heading(text: string): string {
    return this.#apart(`${this.#paint(text, "strong")}\n\n`);
  }

  /** A paragraph. */
  prose(text: string): string {
    return this.#apart(`${wrapText(text, this.#width(), "  ")}\n`);
  }

  /** A command as a person would type it. */
  command(text: string): string {
    const prompt = `  ${this.#paint("$", "strong")} `;
    return this.#apart(`${prompt}${this.#paint(text, "strong")}\n`, prompt);
  }

  /** What a command printed, or a file holds. */
  output(text: string): string {
    const lines = text.replace(/\n+$/, "").split("\n");
    return this.#told(`${lines.map((line) => line === "" ? "\n" : `    ${line}\n`).join("")}\n`);
  }

  /** Lines as they are. */
  lines(text: string): string {
    return this.#told(text);
  }

  /** Puts an empty line before a part, unless there is one, or the last line is of the same kind. */
  #apart(text: string, kind?: string): string {
    const isNext = this.#tail.endsWith("\n\n") || (kind !== undefined && this.#lastLine.startsWith(kind));
    return this.#told(isNext ? text : `\n${text}`);
  }

  get #lastLine(): string {
    return this.#tail.trimEnd().split("\n").at(-1) ?? "";
  }

  #told(text: string): string {
    this.#tail = `${this.#tail}${text}`.slice(-TAIL_CHARS);
    return text;
  }
}

/** Longer than any line that is compared. */
const TAIL_CHARS = 1_000;
