/**
 * Bounds of a post-mortem: whatever a candidate printed, its remains fit the journal (DESIGN 5, Journal).
 *
 * @module
 */
import type { PostMortem } from "../../contracts/agent_upgrade.ts";
import { bounded } from "../../contracts/formats.ts";
import {
  DETAIL_MAX_CHARS,
  POST_MORTEM_LINE_MAX_CHARS,
  POST_MORTEM_LINES_MAX,
  POST_MORTEM_MAX_BYTES,
  SHORT_TEXT_MAX_CHARS,
  STATUS_TEXT_MAX_CHARS,
} from "../../contracts/limits.ts";

const encoder = new TextEncoder();

function sizeBytes(value: PostMortem): number {
  return encoder.encode(JSON.stringify(value)).byteLength;
}

/** Control characters would cost six bytes each in JSON, and move a terminal's cursor. */
function printable(value: string): string {
  // deno-lint-ignore no-control-regex -- control characters are what is replaced
  return value.replaceAll(/[\u0000-\u001f\u007f]/g, " ").toWellFormed();
}

/**
 * Cuts every part of a post-mortem to its bound, then drops the oldest lines until the whole fits 8 KiB.
 *
 * @param found What is known, unbounded
 */
export function boundedPostMortem(found: PostMortem): PostMortem {
  const { lastLines = [], statusText, failedCheck, signal, unit, invocationId, ...rest } = found;
  const short = (value: string) => bounded(printable(value), SHORT_TEXT_MAX_CHARS);
  const base: PostMortem = {
    ...rest,
    result: short(found.result),
    ...(signal === undefined ? {} : { signal: short(signal) }),
    ...(unit === undefined ? {} : { unit: short(unit) }),
    ...(invocationId === undefined ? {} : { invocationId: short(invocationId) }),
    ...(statusText === undefined ? {} : { statusText: bounded(printable(statusText), STATUS_TEXT_MAX_CHARS) }),
    ...(failedCheck === undefined ? {} : {
      failedCheck: { name: short(failedCheck.name), reason: bounded(printable(failedCheck.reason), DETAIL_MAX_CHARS) },
    }),
  };
  const lines = lastLines.slice(-POST_MORTEM_LINES_MAX).map((line) =>
    bounded(printable(line), POST_MORTEM_LINE_MAX_CHARS)
  );
  while (lines.length > 0 && sizeBytes({ ...base, lastLines: lines }) > POST_MORTEM_MAX_BYTES) lines.shift();
  return lines.length === 0 ? base : { ...base, lastLines: lines };
}
