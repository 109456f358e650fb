/**
 * The upgrade of an agent's binary on the wire: the attempt that the operator writes, and the status that the device
 * answers with (`Fleet agent upgrades`, Trust boundary and Status). `docs/wire.md` describes both for other languages.
 *
 * @module
 */
import {
  boundedJson,
  type Decoded,
  decodeError,
  type Decoder,
  integer,
  list,
  object,
  oneOf,
  oneOfOr,
  optional,
  refined,
  text,
} from "./codec.ts";
import { FAILURE_CLASSES } from "./errors.ts";
import { architecture, detail, deviceId, instant, reason, sha256Hex, shortText, uuid, version } from "./formats.ts";
import {
  ARTIFACT_MAX_BYTES,
  ARTIFACT_URL_MAX_CHARS,
  POST_MORTEM_LINE_MAX_CHARS,
  POST_MORTEM_LINES_MAX,
  POST_MORTEM_MAX_BYTES,
  STATUS_TEXT_MAX_CHARS,
  TRANSITIONS_MAX,
} from "./limits.ts";
import { parseOciReference } from "./oci_reference.ts";

/** Schema version of the documents of this file. */
export const AGENT_UPGRADE_SCHEMA = 1;

function urlProblem(value: string): string | undefined {
  let url: URL;
  try {
    url = new URL(value);
  } catch {
    return "is not a URL";
  }
  if (url.protocol !== "https:" && url.protocol !== "oci:") {
    return `has the scheme ${url.protocol}, must be https or oci`;
  }
  if (url.protocol === "oci:") {
    const reference = parseOciReference(value);
    return "problem" in reference ? reference.problem : undefined;
  }
  // The parser also takes https:host, https:\\host and HTTPS://host; one spelling is enough for one digest.
  const start = `${url.protocol}//`;
  if (!value.startsWith(start)) return `must begin with ${start}`;
  if (url.hostname === "" || value.startsWith("/", start.length)) return "names no host";
  const authority = value.slice(start.length).split(/[/?#\\]/, 1)[0] ?? "";
  // Credentials in a URL end up in logs and status fields.
  if (authority.includes("@")) return "must not contain credentials";
  return value.includes("#") ? "must not contain a fragment" : undefined;
}

/** Decodes an artifact URL: `https://…`, or an anonymous `oci://` reference with a tag or a digest. */
export const artifactUrl: Decoder<string> = text({
  what: "an https or oci URL without spaces",
  maxChars: ARTIFACT_URL_MAX_CHARS,
  pattern: /^[\u0021-\u007e]+$/,
  check: urlProblem,
});

/** Decodes the bytes that an attempt fetches. */
export const attemptArtifact = object({
  /** Where the bytes are. */
  url: artifactUrl,
  /** Most bytes, at most the compiled ceiling of 100 MiB. */
  maxBytes: integer(1, ARTIFACT_MAX_BYTES),
  /** The digest that decides. */
  sha256: sha256Hex,
});

/**
 * Decodes an upgrade attempt. It has no source version and no expiry. Its digest is taken over the whole document as
 * it came, members unknown here included (DESIGN 5, Journal).
 */
export const agentUpgradeAttempt = object({
  schema: integer(1),
  /** The attempt's UUID. */
  attemptId: uuid,
  /** The one device that it is for. */
  deviceId,
  /** The version that the candidate must have compiled in. */
  targetVersion: version,
  /** The device's architecture. */
  arch: architecture,
  /** The bytes. */
  artifact: attemptArtifact,
  /** Digest of the release's version, artifact and revision (DESIGN 3), for the operator that reads it back. */
  releaseIdentity: optional(sha256Hex),
});
/** An upgrade attempt. */
export type AgentUpgradeAttempt = Decoded<typeof agentUpgradeAttempt>;

/** Public phases (`Fleet agent upgrades`, Status). */
export const UPGRADE_PHASES = [
  "preparing",
  "stopping",
  "starting",
  "complete",
  "rolling-back",
  "failed",
  "rollback-failed",
] as const;
/** One of {@link UPGRADE_PHASES}. */
export type UpgradePhase = (typeof UPGRADE_PHASES)[number];

/** Phases that an attempt never leaves by itself. */
export const TERMINAL_UPGRADE_PHASES: ReadonlySet<UpgradePhase> = new Set(["complete", "failed", "rollback-failed"]);

/**
 * Whether a phase is terminal.
 *
 * @param phase A public phase
 */
export function isTerminalPhase(phase: UpgradePhase): boolean {
  return TERMINAL_UPGRADE_PHASES.has(phase);
}

/** Decodes one timed change of phase. */
export const phaseTransition = object({ phase: oneOf(UPGRADE_PHASES), at: instant, code: optional(reason) });
/** One timed change of phase. */
export type PhaseTransition = Decoded<typeof phaseTransition>;

const postMortemLine = text({ what: "a line", maxChars: POST_MORTEM_LINE_MAX_CHARS, minChars: 0 });

/** Decodes the members of a post-mortem, without the bound on the whole. */
export const postMortemShape = object({
  /** `probe`, or `start`. */
  stage: oneOfOr(["probe", "start"], "start"),
  /** systemd's result word: `exit-code`, `signal`, `timeout`, `protocol`, … */
  result: shortText,
  exitCode: optional(integer(0, 255)),
  signal: optional(shortText),
  /** The last `STATUS=` text of the process. */
  statusText: optional(text({ what: "text", maxChars: STATUS_TEXT_MAX_CHARS, minChars: 0 })),
  /** The self-test check that failed, with its reason. */
  failedCheck: optional(object({ name: shortText, reason: detail })),
  /** Last lines of output, oldest first. */
  lastLines: optional(list(postMortemLine, POST_MORTEM_LINES_MAX)),
  /** From the start of the process to its end, in ms. */
  durationMs: optional(integer(0)),
  unit: optional(shortText),
  invocationId: optional(shortText),
});
/** What is known about the end of a failed candidate. */
export type PostMortem = Decoded<typeof postMortemShape>;

/** Decodes what is known about the end of a failed candidate (DESIGN 5); at most 8 KiB as JSON. */
export const postMortem: Decoder<PostMortem> = boundedJson(postMortemShape, POST_MORTEM_MAX_BYTES);

/** Decodes the members of a status, without the rules between them. */
export const agentUpgradeStatusShape = object({
  schema: integer(1),
  /** The attempt's UUID; an intent rejected without a valid one has `rejectedRevision` instead. */
  attemptId: optional(uuid),
  /** KV revision of an intent that named no valid UUID. */
  rejectedRevision: optional(integer(1)),
  deviceId,
  /** Digest of the attempt's canonical JSON; absent when the intent could not be read as JSON. */
  attemptDigest: optional(sha256Hex),
  targetVersion: optional(version),
  artifactSha256: optional(sha256Hex),
  releaseIdentity: optional(sha256Hex),
  phase: oneOf(UPGRADE_PHASES),
  /** Typed reason of the phase. */
  reason: optional(reason),
  /** How a failure is classified. */
  failureClass: optional(oneOfOr(FAILURE_CLASSES, "internal")),
  detail: optional(detail),
  error: optional(detail),
  startedAt: instant,
  updatedAt: instant,
  /** How long the previous agent drained before it stopped, in ms. */
  drainMs: optional(integer(0)),
  bootId: optional(shortText),
  invocationId: optional(shortText),
  /** The systemd unit in whose journal the details stand. */
  journalUnit: optional(shortText),
  transitions: list(phaseTransition, TRANSITIONS_MAX),
  postMortem: optional(postMortem),
});
/** The status of an attempt. */
export type AgentUpgradeStatus = Decoded<typeof agentUpgradeStatusShape>;

/** Decodes the status of an attempt, as the updater reports it and the agent mirrors it into NATS. */
export const agentUpgradeStatus: Decoder<AgentUpgradeStatus> = refined(agentUpgradeStatusShape, (status, path) => {
  if (status.attemptId === undefined && status.rejectedRevision === undefined) {
    throw decodeError(path === "" ? "attemptId" : `${path}.attemptId`, "is missing, and so is rejectedRevision");
  }
  return status;
});
