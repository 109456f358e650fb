/**
 * The report that `fleet-agent --self-test` prints: one JSON document on standard output (DESIGN 5, Probe).
 *
 * @module
 */
import { type Decoded, flag, integer, list, object, oneOfOr, optional } from "./codec.ts";
import { FAILURE_CLASSES } from "./errors.ts";
import { architecture, binaryForm, detail, shortText, version } from "./formats.ts";
import { PROBE_CHECKS_MAX } from "./limits.ts";

/** Results of one check. A check after a failed one that it needs is `skipped`. */
export const CHECK_RESULTS = ["ok", "failed", "skipped"] as const;

/** Decodes one check of the report. */
export const selfTestCheck = object({
  name: shortText,
  result: oneOfOr(CHECK_RESULTS, "skipped"),
  /** Why it failed or was skipped. */
  reason: optional(detail),
  /** How a failure is classified: an unreachable NATS is `environment`, an unreadable config `version`. */
  failureClass: optional(oneOfOr(FAILURE_CLASSES, "internal")),
  durationMs: integer(0),
});
/** One check of the report. */
export type SelfTestCheck = Decoded<typeof selfTestCheck>;

/** Decodes the report. */
export const selfTestReport = object({
  schema: integer(1),
  version,
  arch: architecture,
  form: optional(binaryForm),
  passed: flag,
  checks: list(selfTestCheck, PROBE_CHECKS_MAX, 1),
});
/** The report. */
export type SelfTestReport = Decoded<typeof selfTestReport>;
