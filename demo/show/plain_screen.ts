/**
 * The story as plain lines: for logs, pipes, and people who switch colours off.
 *
 * @module
 */
import { plainPaint } from "../../operator/cli/render/paint.ts";
import { changeLine, type DeviceChange, type DeviceRow } from "./device_news.ts";
import { seconds } from "../figures.ts";
import { ACTIVITY_AFTER_MS, type Screen, type Sink } from "./screen.ts";
import { StoryText } from "./story_text.ts";

const WIDTH_CHARS = 100;
/** Between two lines about the same wait, in ms: a log wants few. */
const ACTIVITY_EVERY_MS = 5_000;

/** A screen that only appends lines. */
export class PlainScreen implements Screen {
  readonly #sink: Sink;
  readonly #text = new StoryText(() => WIDTH_CHARS, plainPaint);
  readonly #startMs = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waitsFor: string | null = null;

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  heading(text: string): void {
    this.#sink(this.#text.heading(text));
  }

  say(text: string): void {
    this.#sink(this.#text.prose(text));
  }

  command(text: string): void {
    this.#sink(this.#text.command(text));
  }

  output(text: string): void {
    this.#sink(this.#text.output(text));
  }

  lines(text: string): void {
    this.#sink(this.#text.lines(text));
  }

  devices(_rows: readonly DeviceRow[], changes: readonly DeviceChange[]): void {
    for (const { row, atMs } of changes) this.lines(changeLine(row, atMs - this.#startMs));
  }

  activity(text: string | null): void {
    if (text === this.#waitsFor) return;
    this.#waitsFor = text;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (text === null) return;
    const sinceMs = performance.now();
    const tell = () => {
      this.lines(`  ... ${text} (${seconds(performance.now() - sinceMs)})\n`);
      this.#timer = setTimeout(tell, ACTIVITY_EVERY_MS);
    };
    this.#timer = setTimeout(tell, ACTIVITY_AFTER_MS);
  }

  close(): void {
    this.activity(null);
  }
}
