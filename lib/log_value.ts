/**
 * Makes any value fit for a log line: bounded in size, depth and work, and without secrets.
 *
 * @module
 */
import { errorText, isFleetError } from "../contracts/errors.ts";
import { bounded } from "../contracts/formats.ts";
import {
  LOG_FIELD_DEPTH_MAX,
  LOG_FIELD_MAX_CHARS,
  LOG_FIELD_NODES_MAX,
  LOG_FIELDS_MAX,
  SHORT_TEXT_MAX_CHARS,
} from "../contracts/limits.ts";

const SECRET_NAME_REGEXP = /passw|token|secret|authorization|credential|cookie|private_?key|seed|jwt/i;
const URL_LOGIN_REGEXP = /:\/\/[^\s/@]+@/g;
const REDACTED = "[redacted]";

/**
 * Removes the login part of every URL in a text.
 *
 * @param text The text
 */
export function withoutUrlLogin(text: string): string {
  return text.includes("@") ? text.replaceAll(URL_LOGIN_REGEXP, `://${REDACTED}@`) : text;
}

/** Cuts before it searches, so that a huge text costs no more than a long one. */
function loggableText(text: string): string {
  return bounded(withoutUrlLogin(bounded(text, 2 * LOG_FIELD_MAX_CHARS)), LOG_FIELD_MAX_CHARS);
}

interface Budget {
  nodes: number;
}

function loggableMember(name: string, value: unknown, depth: number, budget: Budget): unknown {
  return SECRET_NAME_REGEXP.test(name) && value !== undefined ? REDACTED : loggableValue(value, depth, budget);
}

function loggableValue(value: unknown, depth: number, budget: Budget): unknown {
  if (--budget.nodes < 0) return "…";
  switch (typeof value) {
    case "string":
      return loggableText(value);
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "boolean":
    case "undefined":
      return value;
    case "bigint":
      return loggableText(value.toString());
    case "function":
    case "symbol":
      return `<${typeof value}>`;
    case "object":
      return value === null ? null : loggableObject(value, depth, budget);
  }
}

function loggableObject(value: object, depth: number, budget: Budget): unknown {
  if (value instanceof Error) {
    return loggableText(isFleetError(value) ? `${errorText(value)} (${value.code})` : errorText(value));
  }
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "<no date>" : value.toISOString();
  if (ArrayBuffer.isView(value)) return `<${value.byteLength} bytes>`;
  if (depth >= LOG_FIELD_DEPTH_MAX) return Array.isArray(value) ? "<list>" : "<object>";
  if (Array.isArray(value)) {
    return value.slice(0, LOG_FIELDS_MAX).map((item) => loggableValue(item, depth + 1, budget));
  }
  return loggableMembers(value, depth, budget);
}

/** A log line must not fail because a getter does. */
function memberOf(value: object, name: string): unknown {
  try {
    return (value as Record<string, unknown>)[name];
  } catch {
    return "<unreadable>";
  }
}

function loggableMembers(value: object, depth: number, budget: Budget): Record<string, unknown> {
  const result: [string, unknown][] = [];
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue;
    if (result.length >= LOG_FIELDS_MAX) break;
    result.push([
      bounded(name, SHORT_TEXT_MAX_CHARS),
      loggableMember(name, memberOf(value, name), depth + 1, budget),
    ]);
  }
  // fromEntries defines own properties, so that a name such as __proto__ stays data.
  return Object.fromEntries(result);
}

/** Shows a value as a cut text when its JSON is longer than a field may be. */
function boundedJson(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const json = JSON.stringify(value);
  return json.length <= LOG_FIELD_MAX_CHARS ? value : bounded(json, LOG_FIELD_MAX_CHARS);
}

/**
 * The fields of a line, fit to be logged.
 *
 * @param fields Any values
 */
export function loggable(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const result: [string, unknown][] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (result.length >= LOG_FIELDS_MAX) break;
    result.push([
      bounded(name, SHORT_TEXT_MAX_CHARS),
      boundedJson(loggableMember(name, value, 0, { nodes: LOG_FIELD_NODES_MAX })),
    ]);
  }
  return Object.fromEntries(result);
}
