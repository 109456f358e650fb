/**
 * What is spoken over the updater's Unix socket. One connection carries one request: the client writes one JSON
 * document and shuts down its sending side; the server answers with one JSON document and closes. `docs/wire.md`
 * describes it for other languages.
 *
 * @module
 */
import { AGENT_UPGRADE_SCHEMA, agentUpgradeAttempt, agentUpgradeStatus, UPGRADE_PHASES } from "./agent_upgrade.ts";
import {
  type Decoded,
  decodeError,
  type Decoder,
  flag,
  integer,
  list,
  nullable,
  object,
  oneOf,
  oneOfOr,
  optional,
} from "./codec.ts";
import { FAILURE_CLASSES } from "./errors.ts";
import { absolutePath, detail, instant, reason, sha256Hex, shortText, uuid, version } from "./formats.ts";
import { CAPABILITIES_MAX } from "./limits.ts";
import {
  SYSTEM_UPGRADE_SCHEMA,
  type SystemUpgradeAttempt,
  systemUpgradeAttempt,
  type SystemUpgradeStatus,
  systemUpgradeStatus,
} from "./system_upgrade.ts";

/** Version of the protocol. */
export const UPDATER_PROTOCOL = 1;

/** Durable phases of a transaction in the journal (`Fleet agent upgrades`, Recovery). */
export const DURABLE_PHASES = [
  "preparing",
  "activating",
  "committed",
  "rolling-back",
  "failed",
  "rollback-failed",
] as const;
/** One of {@link DURABLE_PHASES}. */
export type DurablePhase = (typeof DURABLE_PHASES)[number];

/** Reason of the transaction that root's repair of a corrupt journal leaves: the memory of earlier attempts is gone. */
export const JOURNAL_CORRUPT = "JournalCorrupt";

/** Codes of a refused request. `docs/wire.md` says what each means and what a client does next. */
export const UPDATER_ERROR_CODES = [
  "E_REQUEST_TOO_LARGE",
  "E_REQUEST_TIMEOUT",
  "E_REQUEST_INVALID",
  "E_RESPONSE_TIMEOUT",
  "E_TOO_MANY_CLIENTS",
  "E_BUSY",
  "E_QUARANTINED",
  "E_NO_RESERVE",
  "E_UUID_REUSED",
  "E_WRONG_DEVICE",
  "E_WRONG_ARCH",
  "E_UNSUPPORTED_SCHEME",
  "E_VERSION_SELECTED",
  "E_STOPPING",
  "E_EXPIRED",
  "E_CLOCK_INSANE",
  "E_LEDGER_FULL",
  "E_LEDGER_CORRUPT",
  "E_LEDGER_LOST",
  "E_UNSUPPORTED_OPERATION",
  "E_INTERNAL",
] as const;
/** One of {@link UPDATER_ERROR_CODES}. */
export type UpdaterErrorCode = (typeof UPDATER_ERROR_CODES)[number];

const REQUESTS = ["status", "upgrade", "system-upgrade"] as const;

const statusRequest = object({ protocol: integer(1), request: oneOf(["status"]) });
const systemUpgradeRequest = object({
  protocol: integer(1),
  request: oneOf(["system-upgrade"]),
  attempt: systemUpgradeAttempt,
});
const upgradeRequest = object({
  protocol: integer(1),
  request: oneOf(["upgrade"]),
  attempt: agentUpgradeAttempt,
});

/** A request with, for an upgrade of either kind, the attempt as it came: its digest is taken over the whole document. */
export type UpdaterRequest =
  | { readonly request: "status" }
  | {
    readonly request: "upgrade";
    readonly attempt: Decoded<typeof agentUpgradeAttempt>;
    readonly document: unknown;
  }
  | {
    readonly request: "system-upgrade";
    readonly attempt: SystemUpgradeAttempt;
    readonly document: unknown;
  };

/** Decodes a request; keeps the attempt's document as it came beside the decoded one. */
export const updaterRequest: Decoder<UpdaterRequest> = (value: unknown, path: string): UpdaterRequest => {
  const kind = object({ protocol: integer(1), request: oneOf(REQUESTS) })(value, path);
  if (kind.protocol !== UPDATER_PROTOCOL) {
    throw decodeError("protocol", `is ${kind.protocol}, this updater speaks ${UPDATER_PROTOCOL}`);
  }
  if (kind.request === "status") return { request: statusRequest(value, path).request };
  if (kind.request === "system-upgrade") {
    const { request, attempt } = systemUpgradeRequest(value, path);
    checkSchema(attempt.schema, SYSTEM_UPGRADE_SCHEMA);
    return { request, attempt, document: attemptDocument(value) };
  }
  const { request, attempt } = upgradeRequest(value, path);
  checkSchema(attempt.schema, AGENT_UPGRADE_SCHEMA);
  return { request, attempt, document: attemptDocument(value) };
};

function attemptDocument(request: unknown): unknown {
  return (request as { attempt: unknown }).attempt;
}

/** Members are added without a new schema; a newer one says that an older reader would misread the document. */
function checkSchema(schema: number, newest: number): void {
  if (schema > newest) throw decodeError("attempt.schema", `is ${schema}, this updater reads up to ${newest}`);
}

/** Decodes the part of the journal that a starting agent needs (`Fleet agent upgrades`, Readiness and commit). */
export const transactionView = object({
  phase: oneOf(DURABLE_PHASES),
  attemptId: uuid,
  attemptDigest: sha256Hex,
  targetVersion: version,
  targetPath: absolutePath,
  previousPath: absolutePath,
  status: agentUpgradeStatus,
});
/** The part of the journal that a starting agent needs. */
export type TransactionView = Decoded<typeof transactionView>;

/** Decodes what the updater answers to `status`, and, once it is terminal, to `upgrade`. */
export const updaterState = object({
  /** The updater's own version. */
  updaterVersion: version,
  /** What this updater can do: `https`, `oci`, `AptFullUpgradeV1`. */
  capabilities: list(shortText, CAPABILITIES_MAX),
  /** Whether a new attempt of either kind would be refused as busy. */
  busy: flag,
  /** Whether every new attempt is refused until root repairs the device. */
  quarantined: flag,
  /** Null when there has been no transaction. */
  transaction: nullable(transactionView),
  /**
   * The system upgrade that runs, or else the last one that it accepted; absent when there was none, and from an updater
   * that is too old for one.
   */
  systemUpgrade: optional(systemUpgradeStatus),
  /** Why this device cannot upgrade its system until root repairs it: its ledger cannot be trusted. */
  ledgerProblem: optional(detail),
});
/** What the updater answers. */
export type UpdaterState = Decoded<typeof updaterState>;

/** Decodes a refusal. */
export const updaterRefusal = object({
  code: oneOfOr(UPDATER_ERROR_CODES, "E_INTERNAL"),
  message: detail,
  field: optional(shortText),
  failureClass: oneOfOr(FAILURE_CLASSES, "internal"),
  /** Whether the same request may succeed later. */
  retryable: flag,
});
/** A refusal. */
export type UpdaterRefusal = Decoded<typeof updaterRefusal>;

/** Decodes how an attempt that ran earlier ended. */
export const attemptOutcome = object({
  attemptId: uuid,
  attemptDigest: sha256Hex,
  phase: oneOf(UPGRADE_PHASES),
  reason: optional(reason),
  at: instant,
});
/** How an attempt that ran earlier ended. */
export type AttemptOutcome = Decoded<typeof attemptOutcome>;

const answered = object({ protocol: integer(1), ok: flag });
const success = object({
  state: updaterState,
  /** To `upgrade`: how its attempt ended. */
  outcome: optional(attemptOutcome),
  /** To `system-upgrade`: its attempt as the ledger has it, just accepted, under way, or ended long ago. */
  systemUpgrade: optional(systemUpgradeStatus),
});
const failure = object({ error: updaterRefusal });

/** A response: the updater's state, to an upgrade with what became of its attempt, or a refusal. */
export type UpdaterResponse =
  | {
    readonly ok: true;
    readonly state: UpdaterState;
    readonly outcome?: AttemptOutcome;
    readonly systemUpgrade?: SystemUpgradeStatus;
  }
  | { readonly ok: false; readonly error: UpdaterRefusal };

/** Decodes a response. */
export const updaterResponse: Decoder<UpdaterResponse> = (value: unknown, path: string): UpdaterResponse => {
  const { ok } = answered(value, path);
  return ok ? { ok, ...success(value, path) } : { ok, error: failure(value, path).error };
};

/**
 * The document of a response.
 *
 * @param response The response
 */
export function encodeUpdaterResponse(response: UpdaterResponse): Record<string, unknown> {
  return { protocol: UPDATER_PROTOCOL, ...response };
}
