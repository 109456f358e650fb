/**
 * The two forms of a log line.
 *
 * @module
 */

const COLOURS: Readonly<Record<string, string>> = { debug: "90", info: "32", warn: "33", error: "31" };

/** Fields may not replace what the line itself says. */
function renamed(name: string): string {
  return name === "time" || name === "level" || name === "message" ? `_${name}` : name;
}

/**
 * A line for machines: one JSON object.
 *
 * @param time RFC 3339
 * @param level Level
 * @param message Constant message
 * @param fields Fields that are fit to be logged
 */
export function jsonLine(time: string, level: string, message: string, fields: Record<string, unknown>): string {
  const named = Object.entries(fields).map(([name, value]) => [renamed(name), value]);
  return JSON.stringify({ time, level, message, ...Object.fromEntries(named) });
}

/** Control characters would let a text from outside forge lines or steer the terminal. */
function printable(text: string): string {
  // deno-lint-ignore no-control-regex -- control characters are what it looks for
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

function shown(value: unknown): string {
  if (typeof value !== "string") return printable(JSON.stringify(value) ?? "");
  const text = printable(value);
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}

/**
 * A line for people: time of day, level, message, `name=value` pairs.
 *
 * @param time RFC 3339
 * @param level Level
 * @param message Constant message
 * @param fields Fields that are fit to be logged
 * @param colour Whether escape sequences colour it
 */
export function humanLine(
  time: string,
  level: string,
  message: string,
  fields: Record<string, unknown>,
  colour: boolean,
): string {
  const paint = (code: string, text: string) => colour ? `\x1b[${code}m${text}\x1b[0m` : text;
  const pairs = Object.entries(fields).map(([name, value]) => ` ${paint("2", `${printable(name)}=`)}${shown(value)}`);
  const label = level.toUpperCase().padEnd(5);
  const clock = paint("2", time.slice(11, 23));
  return `${clock} ${paint(COLOURS[level] ?? "0", label)} ${printable(message)}${pairs.join("")}`;
}
