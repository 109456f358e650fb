/**
 * What a JetStream consumer says of a message in its reply subject.
 *
 * @module
 */

/** Position of a delivered message. */
export interface Delivery {
  /** Revision in the bucket. */
  readonly streamSequence: number;
  /** Counts from 1 within the consumer; a gap is a lost message. */
  readonly consumerSequence: number;
  /** When the server stored the message, in ms since the epoch. */
  readonly storedAtMs: number;
  /** Messages that the consumer has yet to deliver. */
  readonly pending: number;
}

const SHORT_TOKENS = 9;
const LONG_TOKENS_MIN = 11;
const NANOS_DIGITS = 6;

/**
 * Parses `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<nanos>.<pending>`, or the longer form
 * with `<domain>.<account>` before the stream and a token at the end (NATS ADR-15).
 *
 * @param reply Reply subject
 * @returns null for anything else
 */
export function parseDelivery(reply: string): Delivery | null {
  const tokens = reply.split(".");
  if (tokens[0] !== "$JS" || tokens[1] !== "ACK") return null;
  if (tokens.length !== SHORT_TOKENS && tokens.length < LONG_TOKENS_MIN) return null;
  const start = tokens.length === SHORT_TOKENS ? 5 : 7;
  const streamSequence = Number(tokens[start]);
  const consumerSequence = Number(tokens[start + 1]);
  // Nanoseconds since the epoch do not fit a number exactly; their first digits are milliseconds.
  const storedAtMs = Number((tokens[start + 2] ?? "").slice(0, -NANOS_DIGITS));
  const pending = Number(tokens[start + 3]);
  const numbers = [streamSequence, consumerSequence, storedAtMs, pending];
  if (!numbers.every((value) => Number.isSafeInteger(value) && value >= 0)) return null;
  return { streamSequence, consumerSequence, storedAtMs, pending };
}
