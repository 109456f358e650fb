/**
 * The story on a terminal: it scrolls by above a table that is redrawn in place.
 *
 * @module
 */
import { ansiPaint } from "../../operator/cli/render/paint.ts";
import { seconds } from "../figures.ts";
import type { DeviceRow } from "./device_news.ts";
import { frameLines } from "./live_frame.ts";
import { ACTIVITY_AFTER_MS, type Screen, type Sink } from "./screen.ts";
import { StoryText } from "./story_text.ts";

const PROSE_WIDTH_CHARS = 100;
/** Between two looks at the clock, in ms. */
const TICK_MS = 500;
/** A line that is too long is cut by the terminal and not continued on the next one, which would move the frame. */
const WRAP_OFF = "\u001b[?7l";
const WRAP_ON = "\u001b[?7h";

/** A screen that redraws the table. */
export class LiveScreen implements Screen {
  readonly #sink: Sink;
  readonly #width: () => number;
  readonly #text: StoryText;
  readonly #timer: ReturnType<typeof setInterval>;
  #rows: readonly DeviceRow[] = [];
  #activity: { readonly text: string; readonly sinceMs: number } | null = null;
  #drawnLines = 0;
  #drawn = "";

  /**
   * @param sink The terminal
   * @param width Asks for its columns
   */
  constructor(sink: Sink, width: () => number) {
    this.#sink = sink;
    this.#width = width;
    this.#text = new StoryText(() => Math.min(width(), PROSE_WIDTH_CHARS), ansiPaint);
    this.#timer = setInterval(() => this.#draw(""), TICK_MS);
  }

  heading(text: string): void {
    this.#draw(this.#text.heading(text));
  }

  say(text: string): void {
    this.#draw(this.#text.prose(text));
  }

  command(text: string): void {
    this.#draw(this.#text.command(text));
  }

  output(text: string): void {
    this.#draw(this.#text.output(text));
  }

  lines(text: string, tone?: "good" | "bad"): void {
    this.#draw(this.#text.lines(text).split("\n").map((line) => ansiPaint(line, tone)).join("\n"));
  }

  devices(rows: readonly DeviceRow[]): void {
    this.#rows = rows;
    this.#draw("");
  }

  activity(text: string | null): void {
    if (text === (this.#activity?.text ?? null)) return;
    this.#activity = text === null ? null : { text, sinceMs: performance.now() };
    this.#draw("");
  }

  close(): void {
    clearInterval(this.#timer);
    this.activity(null);
  }

  /** Puts text above the frame, and the frame below it; in one write, so that nothing flickers. */
  #draw(above: string): void {
    const lines = frameLines({ rows: this.#rows, activity: this.#activityText() }, this.#width(), ansiPaint);
    const frame = lines.map((line) => `${line}\n`).join("");
    if (above === "" && frame === this.#drawn) return;
    const erase = this.#drawnLines === 0 ? "" : `\u001b[${this.#drawnLines}A\r\u001b[J`;
    this.#sink(`${erase}${above}${WRAP_OFF}${frame}${WRAP_ON}`);
    this.#drawn = frame;
    this.#drawnLines = lines.length;
  }

  #activityText(): string {
    if (this.#activity === null) return "";
    const { text, sinceMs } = this.#activity;
    const forMs = performance.now() - sinceMs;
    return forMs < ACTIVITY_AFTER_MS ? `... ${text}` : `... ${text} (${seconds(forMs)})`;
  }
}
