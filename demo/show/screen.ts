/**
 * Where the demo tells its story: on a terminal with a live table at the bottom, or as plain lines.
 *
 * @module
 */
import type { DeviceChange, DeviceRow } from "./device_news.ts";

/** Where the story is told. Every method returns at once; what was written stands in order. */
export interface Screen {
  /** A new chapter. */
  heading(text: string): void;
  /** Prose; it is broken into lines. */
  say(text: string): void;
  /** A command as a person would type it. */
  command(text: string): void;
  /** What a command printed, or a file holds. */
  output(text: string): void;
  /** Lines as they are, with a mark of how they are meant. */
  lines(text: string, tone?: "good" | "bad"): void;
  /** The state of all devices, and the changes that led to it. */
  devices(rows: readonly DeviceRow[], changes: readonly DeviceChange[]): void;
  /** What is waited for; null when nothing is. Told when it takes longer than {@link ACTIVITY_AFTER_MS}. */
  activity(text: string | null): void;
  /** Ends it; the table stays as it is. */
  close(): void;
}

/** Waits that take longer than this are announced, in ms. */
export const ACTIVITY_AFTER_MS = 2_000;

/** Writes text; all of it, at once. */
export type Sink = (text: string) => void;
