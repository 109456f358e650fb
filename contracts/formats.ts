/**
 * The string formats that every document shares: ids, versions, digests, names, times.
 *
 * @module
 */
import { type Decoder, list, map, oneOf, text } from "./codec.ts";
import {
  DETAIL_MAX_CHARS,
  DEVICE_ID_MAX_CHARS,
  GROUP_NAME_MAX_CHARS,
  GROUPS_MAX,
  LABEL_KEY_MAX_CHARS,
  LABEL_VALUE_MAX_CHARS,
  LABELS_MAX,
  PATH_MAX_CHARS,
  RESOURCE_NAME_MAX_CHARS,
  SHORT_TEXT_MAX_CHARS,
  VERSION_MAX_CHARS,
} from "./limits.ts";

/** Architectures that artifacts are built for, as `uname -m` names them (DESIGN 11). */
export const ARCHITECTURES = ["x86_64", "aarch64"] as const;
/** One of {@link ARCHITECTURES}. */
export type Architecture = (typeof ARCHITECTURES)[number];
/** Decodes an architecture. */
export const architecture: Decoder<Architecture> = oneOf(ARCHITECTURES);

/** Forms of an agent binary: a compiled program, or a script that runs on an installed `deno` (DESIGN 3, 11). */
export const BINARY_FORMS = ["compiled", "script"] as const;
/** One of {@link BINARY_FORMS}. */
export type BinaryForm = (typeof BINARY_FORMS)[number];
/** Decodes a binary form. */
export const binaryForm: Decoder<BinaryForm> = oneOf(BINARY_FORMS);

/** Decodes a device id: one lower-case DNS label, the only form that is safe in a NATS subject (DESIGN 4). */
export const deviceId: Decoder<string> = text({
  what: "a device id (lower-case letters, digits and inner hyphens)",
  maxChars: DEVICE_ID_MAX_CHARS,
  pattern: /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/,
});

/** Decodes a UUID in its one canonical spelling: lower case, RFC 9562 variant, version 1 to 8. */
export const uuid: Decoder<string> = text({
  what: "a lower-case UUID",
  maxChars: 36,
  pattern: /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
});

const NUMERIC = "(?:0|[1-9][0-9]*)";
const PRERELEASE = `(?:${NUMERIC}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)`;
const BUILD = "[0-9A-Za-z-]+";

/** Decodes a semantic version 2.0.0 of at most 64 characters, the only outside text that enters a path (DESIGN 5). */
export const version: Decoder<string> = text({
  what: "a semantic version such as 1.4.0",
  maxChars: VERSION_MAX_CHARS,
  pattern: new RegExp(
    `^${NUMERIC}\\.${NUMERIC}\\.${NUMERIC}(?:-${PRERELEASE}(?:\\.${PRERELEASE})*)?(?:\\+${BUILD}(?:\\.${BUILD})*)?$`,
  ),
});

/** Decodes a SHA-256 as 64 lower-case hexadecimal digits. */
export const sha256Hex: Decoder<string> = text({
  what: "a SHA-256 in lower-case hexadecimal",
  maxChars: 64,
  pattern: /^[0-9a-f]{64}$/,
});

/** Decodes an instant as RFC 3339 in UTC with milliseconds, the form of `Date.prototype.toISOString`. */
export const instant: Decoder<string> = text({
  what: "a UTC time such as 2026-01-31T12:00:00.000Z",
  maxChars: 24,
  pattern: /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/,
  check: (value) => {
    const time = new Date(value);
    // The runtime takes 30 February and 24:00, and means another day.
    return Number.isNaN(time.getTime()) || time.toISOString() !== value ? "is not a time that exists" : undefined;
  },
});

/** Decodes a resource name: a lower-case DNS subdomain, as Kubernetes takes it. */
export const resourceName: Decoder<string> = text({
  what: "a resource name (lower-case letters, digits, inner hyphens and dots)",
  maxChars: RESOURCE_NAME_MAX_CHARS,
  pattern: /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/,
});

/** Decodes a group name. */
export const groupName: Decoder<string> = text({
  what: "a group name (letters, digits and . _ : / -)",
  maxChars: GROUP_NAME_MAX_CHARS,
  pattern: /^[A-Za-z0-9](?:[A-Za-z0-9._:/-]*[A-Za-z0-9])?$/,
});
/** Decodes a list of groups, which may be empty. */
export const groups: Decoder<string[]> = list(groupName, GROUPS_MAX);

const labelKey = text({
  what: "a label key such as site or example.com/site",
  maxChars: LABEL_KEY_MAX_CHARS,
  pattern: /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/,
  check: (value) =>
    value.lastIndexOf("/") > RESOURCE_NAME_MAX_CHARS
      ? `has a prefix longer than ${RESOURCE_NAME_MAX_CHARS} characters`
      : undefined,
});
const labelValue = text({
  what: "a label value (letters, digits and inner . _ -)",
  maxChars: LABEL_VALUE_MAX_CHARS,
  minChars: 0,
  pattern: /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?$/,
});
/** Decodes labels as Kubernetes takes them. */
export const labels: Decoder<Record<string, string>> = map(labelKey, labelValue, LABELS_MAX);

/** Decodes a reason: PascalCase, as conditions and typed reasons use it. */
export const reason: Decoder<string> = text({
  what: "a PascalCase reason",
  maxChars: SHORT_TEXT_MAX_CHARS,
  pattern: /^[A-Z][A-Za-z0-9]*$/,
});

/** Decodes a bounded detail or error (seed: 1,024 characters). */
export const detail: Decoder<string> = text({ what: "text", maxChars: DETAIL_MAX_CHARS, minChars: 0 });

/** Decodes a short text without control characters: an OS name, a unit, a host. */
export const shortText: Decoder<string> = text({
  what: "one line of text",
  maxChars: SHORT_TEXT_MAX_CHARS,
  minChars: 0,
  // deno-lint-ignore no-control-regex -- control characters are what it refuses
  pattern: /^[^\u0000-\u001f\u007f]*$/,
});

/** Decodes an absolute path without `.` or `..` segments. */
export const absolutePath: Decoder<string> = text({
  what: "an absolute path",
  maxChars: PATH_MAX_CHARS,
  pattern: /^\//,
  check: (value) => {
    if (value.includes("\0")) return "must not contain a zero character";
    return value.split("/").some((part) => part === ".." || part === ".")
      ? "must not contain . or .. segments"
      : undefined;
  },
});

/**
 * Cuts a text to a bound, so that what is too long is shortened instead of lost.
 *
 * @param value The text
 * @param maxChars Most characters. Default {@link DETAIL_MAX_CHARS}
 */
export function bounded(value: string, maxChars: number = DETAIL_MAX_CHARS): string {
  if (value.length <= maxChars) return value;
  const cut = value.slice(0, maxChars - 1);
  // A lone high surrogate at the cut would make the text invalid UTF-16, which canonical JSON refuses.
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`;
}
