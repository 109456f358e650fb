/**
 * Structured log: a constant message, and fields that say the rest.
 *
 * Lines are JSON objects `{"time", "level", "message", …fields}`, or one readable line each on a terminal. A line is
 * bounded whatever is put into it, and never carries a secret: fields that are named like one are replaced, and so is
 * the login part of a URL (DESIGN 6, Logs; issue 3).
 *
 * @module
 */
import { bounded } from "../contracts/formats.ts";
import { LOG_FIELD_MAX_CHARS, LOG_STATES_MAX } from "../contracts/limits.ts";
import { type Clock, systemClock } from "./deadline.ts";
import { humanLine, jsonLine } from "./log_format.ts";
import { loggable, withoutUrlLogin } from "./log_value.ts";

/** Levels, from chatty to grave. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
/** One of {@link LOG_LEVELS}. */
export type LogLevel = (typeof LOG_LEVELS)[number];
/** What a line says besides its message. `undefined` leaves a field out; an error becomes its text and code. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where a program says what it does. */
export interface Logger {
  /** For whoever looks for a fault. */
  debug(message: string, fields?: LogFields): void;
  /** What a person on call wants to have read afterwards. */
  info(message: string, fields?: LogFields): void;
  /** What may need a hand if it goes on. */
  warn(message: string, fields?: LogFields): void;
  /** What needs a hand. */
  error(message: string, fields?: LogFields): void;
  /** A logger whose lines all carry the given fields. */
  child(fields: LogFields): Logger;
  /**
   * Logs a state when it differs from the last one of the same key, and counts it otherwise; the next change carries
   * the count as `suppressed`. Pass only fields that make it another state: no counters, no times.
   *
   * @param key What is in a state: "nats", "updater"
   * @param message The state
   * @param fields What belongs to it
   * @param level Default `info`
   */
  state(key: string, message: string, fields?: LogFields, level?: LogLevel): void;
}

/** Options of {@link createLogger}. */
export interface LoggerOptions {
  /** Takes one line without its line end. Default standard error. */
  readonly sink?: (line: string) => void;
  /** Default `human` when standard error is a terminal, else `json`. */
  readonly format?: "json" | "human";
  /** Whether human lines are coloured. Default on a terminal, unless `NO_COLOR` is set. */
  readonly colour?: boolean;
  /** Lowest level that is logged. Default `info`. */
  readonly level?: LogLevel;
  /** Default {@link systemClock}. */
  readonly clock?: Clock;
  /** Fields of every line. */
  readonly fields?: LogFields;
}

interface State {
  readonly identity: string;
  suppressed: number;
}

/** What a logger and its children share. */
interface Core {
  readonly sink: (line: string) => void;
  readonly render: (time: string, level: LogLevel, message: string, fields: Record<string, unknown>) => string;
  readonly lowest: number;
  readonly clock: Clock;
  /** In the order of last use. */
  readonly states: Map<string, State>;
}

const ENCODER = new TextEncoder();

/** Writes to standard error at once, so that the last line before an end is not lost; a closed one is not an error. */
function standardErrorSink(line: string): void {
  const bytes = ENCODER.encode(`${line}\n`);
  try {
    for (let written = 0; written < bytes.byteLength;) written += Deno.stderr.writeSync(bytes.subarray(written));
  } catch {
    // Nothing is left to tell it to.
  }
}

class CoreLogger implements Logger {
  readonly #core: Core;
  readonly #fields: LogFields;

  constructor(core: Core, fields: LogFields) {
    this.#core = core;
    this.#fields = fields;
  }

  debug(message: string, fields?: LogFields): void {
    this.#log("debug", message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#log("info", message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#log("warn", message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#log("error", message, fields);
  }

  child(fields: LogFields): Logger {
    return new CoreLogger(this.#core, { ...this.#fields, ...fields });
  }

  state(key: string, message: string, fields: LogFields = {}, level: LogLevel = "info"): void {
    const { states } = this.#core;
    const owner = `${JSON.stringify(loggable(this.#fields))} ${key}`;
    const identity = `${level} ${message} ${JSON.stringify(loggable(fields))}`;
    const last = states.get(owner);
    // Deleting first moves the key to the end, which makes the first key of the map the one to forget.
    states.delete(owner);
    if (last?.identity === identity) {
      last.suppressed++;
      states.set(owner, last);
      return;
    }
    states.set(owner, { identity, suppressed: 0 });
    if (states.size > LOG_STATES_MAX) { for (const oldest of states.keys()) if (states.delete(oldest)) break; }
    const suppressed = last === undefined || last.suppressed === 0 ? undefined : last.suppressed;
    this.#log(level, message, { ...fields, suppressed });
  }

  #log(level: LogLevel, message: string, fields: LogFields = {}): void {
    const { clock, lowest, render, sink } = this.#core;
    if (LOG_LEVELS.indexOf(level) < lowest) return;
    const time = new Date(clock.nowMs()).toISOString();
    const said = bounded(withoutUrlLogin(message), LOG_FIELD_MAX_CHARS);
    sink(render(time, level, said, loggable({ ...this.#fields, ...fields })));
  }
}

/**
 * Makes a logger.
 *
 * @param options Sink, format, level, clock, fields
 */
export function createLogger(options: LoggerOptions = {}): Logger {
  const { sink = standardErrorSink, level = "info", clock = systemClock, fields = {} } = options;
  const terminal = options.sink === undefined && Deno.stderr.isTerminal();
  const format = options.format ?? (terminal ? "human" : "json");
  const colour = options.colour ?? (terminal && !Deno.noColor);
  const core: Core = {
    sink,
    render: format === "json" ? jsonLine : (...line) => humanLine(...line, colour),
    lowest: LOG_LEVELS.indexOf(level),
    clock,
    states: new Map(),
  };
  return new CoreLogger(core, fields);
}

/** A logger that says nothing. */
export const silentLogger: Logger = createLogger({ sink: () => {}, format: "json" });
