/**
 * The one error class of the system, and its retry classes.
 *
 * A `FleetError` is what an adapter makes of foreign text, and what bad input gets. Expected outcomes (not found, not
 * needed, rejected by a rule) are values of a union instead.
 *
 * @module
 */

/**
 * What a caller may do about an error: `transient` may succeed when tried again unchanged, `permanent` needs other
 * input, `fatal` leaves the state of the process or its disk unknown, so the process ends and recovers from the disk.
 */
export type RetryClass = "transient" | "permanent" | "fatal";

/** Why an upgrade failed, as a person on call sorts it (DESIGN 5, Verdicts). */
export const FAILURE_CLASSES = ["version", "environment", "policy", "internal"] as const;

/** One of {@link FAILURE_CLASSES}. */
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** Options of a {@link FleetError}. */
export interface FleetErrorOptions {
  /** Stable machine-readable code, `E_SNAKE`. */
  readonly code: string;
  /** What the caller may do. Default `permanent`. */
  readonly retry?: RetryClass;
  /** How the failure is classified when it ends an upgrade. Default `internal`. */
  readonly failureClass?: FailureClass;
  /** Dotted path of the offending field, when the input was a document. */
  readonly field?: string;
  /** The error that caused this one. */
  readonly cause?: unknown;
}

/** A typed error with a stable code; the message is one clear line without a final period. */
export class FleetError extends Error {
  /** The class, for logs that see only names. */
  override readonly name = "FleetError";
  /** Stable machine-readable code, `E_SNAKE`. */
  readonly code: string;
  /** What the caller may do. */
  readonly retry: RetryClass;
  /** How the failure is classified when it ends an upgrade. */
  readonly failureClass: FailureClass;
  /** Dotted path of the offending field, when the input was a document. */
  readonly field: string | undefined;

  /**
   * Makes an error.
   *
   * @param message One clear line that names the field, the problem and the limit
   * @param options Code and classes
   */
  constructor(message: string, options: FleetErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.retry = options.retry ?? "permanent";
    this.failureClass = options.failureClass ?? "internal";
    this.field = options.field;
  }
}

/**
 * Whether a value is a {@link FleetError}, and, when a code is given, one with that code.
 *
 * @param error What was caught
 * @param code The code to look for
 */
export function isFleetError(error: unknown, code?: string): error is FleetError {
  return error instanceof FleetError && (code === undefined || error.code === code);
}

/**
 * One line of text for any thrown value, for logs and status fields.
 *
 * @param error What was caught
 */
export function errorText(error: unknown): string {
  const text = error instanceof Error ? error.message : textOf(error);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : "";
  const whole = cause !== "" && !text.includes(cause) ? `${text}: ${cause}` : text;
  return whole.replaceAll(/\s+/g, " ").trim();
}

/** Anything can be thrown, an object that cannot become a text included. */
function textOf(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return "a thrown value without a text";
  }
}
