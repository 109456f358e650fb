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

const PREFIX = "$JS.ACK.";
/** Nanoseconds since the epoch do not fit a number exactly; without these last digits they are milliseconds. */
const NANOS_DIGITS = 6;
const DOT = 0x2e;
const ZERO = 0x30;
const DIGITS_MAX = 15;

/**
 * Where the numbers begin in the reply subjects of a consumer. It is the same for all of its messages, since only what
 * follows differs.
 *
 * @param reply Reply subject of one of its messages
 * @param consumer Its name
 * @returns -1 when the subject is not one of that consumer
 */
export function deliveryStart(reply: string, consumer: string): number {
  if (!reply.startsWith(PREFIX)) return -1;
  const at = reply.indexOf(`.${consumer}.`, PREFIX.length);
  return at < 0 ? -1 : at + consumer.length + 2;
}

/**
 * Parses `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<nanos>.<pending>`, or the longer form
 * with `<domain>.<account>` before the stream and a token at the end (NATS ADR-15). It runs for every message of a
 * snapshot, so that it splits no text.
 *
 * @param reply Reply subject
 * @param start What {@link deliveryStart} gave
 * @returns null for anything else
 */
export function parseDelivery(reply: string, start: number): Delivery | null {
  if (start <= 0 || reply.charCodeAt(start - 1) !== DOT) return null;
  const deliveriesEnd = tokenEnd(reply, start);
  const streamEnd = tokenEnd(reply, deliveriesEnd + 1);
  const consumerEnd = tokenEnd(reply, streamEnd + 1);
  const storedEnd = tokenEnd(reply, consumerEnd + 1);
  const pendingEnd = tokenEnd(reply, storedEnd + 1);
  const streamSequence = parseDigits(reply, deliveriesEnd + 1, streamEnd);
  const consumerSequence = parseDigits(reply, streamEnd + 1, consumerEnd);
  const storedAtMs = parseDigits(reply, consumerEnd + 1, storedEnd - NANOS_DIGITS);
  const pending = parseDigits(reply, storedEnd + 1, pendingEnd);
  if (streamSequence < 0 || consumerSequence < 0 || storedAtMs < 0 || pending < 0) return null;
  return { streamSequence, consumerSequence, storedAtMs, pending };
}

function tokenEnd(reply: string, start: number): number {
  const dot = reply.indexOf(".", start);
  return dot < 0 ? reply.length : dot;
}

/** A decimal number; -1 for anything else. */
function parseDigits(reply: string, start: number, end: number): number {
  if (end <= start || end - start > DIGITS_MAX) return -1;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = reply.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = 10 * value + digit;
  }
  return value;
}
