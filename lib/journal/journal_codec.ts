/**
 * The journal's frame: one checksummed document in one file, which is only ever replaced whole.
 *
 * Format. The file is the canonical JSON (RFC 8785) of
 * `{"body": {…}, "schema": n, "seq": n, "sha256": "<64 hex>"}`, members in this order, followed by one line feed, and
 * nothing else.
 *
 * - `schema`: version of the body, from 1. A reader takes its own version only; the frame itself never changes.
 * - `seq`: number of the write, from 1, rising by one; it tells two copies of a journal apart.
 * - `sha256`: checksum over the canonical JSON of `{"body", "schema", "seq"}`, so that a flipped bit in the schema or
 *   the sequence number shows as well as one in the body (DESIGN 5 asks for the body).
 * - `body`: what the program stores; its decoder checks every field.
 *
 * Limits. The caller's byte limit is checked before anything is parsed, and nesting is bounded by the parser.
 *
 * Torn files. A whole-file replace leaves old or new bytes, so a torn file means a broken disk or a foreign writer, and
 * is never repaired by guessing. It shows as an empty file or one without its last line feed (`truncated`), as zeroes
 * or half a document (`json`), or as a document that is not byte for byte what this writer makes (`form`, `checksum`).
 * Bytes after the line feed, white space, another order or a member given twice fail `form`.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { canonicalJson } from "../../contracts/canonical_json.ts";
import { type Decoder, integer, object, parseJson } from "../../contracts/codec.ts";
import { sha256Hex } from "../../contracts/digest.ts";
import { errorText, FleetError, isFleetError } from "../../contracts/errors.ts";
import { sha256Hex as sha256Format } from "../../contracts/formats.ts";

/** Checks of a journal, in the order in which they are made. */
export const JOURNAL_CHECKS = ["size", "truncated", "json", "schema", "frame", "checksum", "form", "body"] as const;
/** One of {@link JOURNAL_CHECKS}. */
export type JournalCheck = (typeof JOURNAL_CHECKS)[number];

/** What a journal holds. */
export interface JournalContent<T> {
  /** Version of the body, from 1. */
  readonly schema: number;
  /** Number of the write, from 1. */
  readonly seq: number;
  /** What is kept. */
  readonly body: T;
}

/** What a reader accepts. */
export interface JournalReader<T> {
  /** The one version of the body that the decoder takes. */
  readonly schema: number;
  /** Decodes the body. */
  readonly body: Decoder<T>;
  /** Most bytes of the whole file. */
  readonly maxBytes: number;
}

/** A journal that cannot be trusted, and which check says so. */
export class JournalCorruptError extends FleetError {
  /** The check that failed. */
  readonly check: JournalCheck;

  /**
   * Makes the error of a failed check.
   *
   * @param check The check
   * @param problem What is wrong, after "Cannot trust the journal"
   * @param cause The error that says so
   */
  constructor(check: JournalCheck, problem: string, cause?: unknown) {
    const field = check === "body" && isFleetError(cause) ? cause.field : undefined;
    super(`Cannot trust the journal: ${problem}`, {
      code: "E_JOURNAL_CORRUPT",
      cause,
      ...(field === undefined ? {} : { field }),
    });
    this.check = check;
  }
}

const LINE_FEED = 0x0a;

const schemaOnly = object({ schema: integer(1) });
const frame = object({ seq: integer(1), sha256: sha256Format, body: object({}) });

/** The whole file, and the checksum in it. The body is written once: it is most of the work. */
function encode(schema: number, seq: number, body: unknown): { bytes: Uint8Array; sha256: string } {
  const open = `${canonicalJson({ body }).slice(0, -1)},"schema":${canonicalJson(schema)},"seq":${canonicalJson(seq)}`;
  const sha256 = sha256Hex(`${open}}`);
  return { bytes: new TextEncoder().encode(`${open},"sha256":"${sha256}"}\n`), sha256 };
}

/**
 * The bytes of a journal.
 *
 * @param content Schema, sequence number, and a body that JSON can express
 * @param maxBytes Most bytes of the whole file
 * @throws {FleetError} `E_JOURNAL_TOO_LARGE`; `E_CANONICAL` for a body that JSON cannot express
 */
export function encodeJournal(content: JournalContent<unknown>, maxBytes: number): Uint8Array {
  const { bytes } = encode(content.schema, content.seq, content.body);
  if (bytes.byteLength > maxBytes) {
    throw new FleetError(`Cannot write the journal: it has ${bytes.byteLength} bytes, at most ${maxBytes}`, {
      code: "E_JOURNAL_TOO_LARGE",
    });
  }
  return bytes;
}

/** Runs a check that throws, and names it. */
function checked<T>(check: JournalCheck, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw new JournalCorruptError(check, errorText(error), error);
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(b);
}

/**
 * Reads a journal.
 *
 * @param bytes The whole file
 * @param reader Schema, decoder of the body, byte limit
 * @throws {JournalCorruptError} `E_JOURNAL_CORRUPT`, with the check that failed
 */
export function decodeJournal<T>(bytes: Uint8Array, reader: JournalReader<T>): JournalContent<T> {
  const { maxBytes } = reader;
  if (bytes.byteLength > maxBytes) {
    throw new JournalCorruptError("size", `it has ${bytes.byteLength} bytes, at most ${maxBytes}`);
  }
  if (bytes.byteLength === 0) throw new JournalCorruptError("truncated", "it is empty");
  if (bytes.at(-1) !== LINE_FEED) throw new JournalCorruptError("truncated", "its last line feed is missing");
  const document = checked("json", () => parseJson(bytes, { maxBytes }));
  // Before the rest: what a newer program wrote must be called newer, not broken.
  const { schema } = checked("schema", () => schemaOnly(document, ""));
  if (schema !== reader.schema) {
    const relation = schema > reader.schema ? "newer" : "older";
    throw new JournalCorruptError(
      "schema",
      `its schema is ${schema}, ${relation} than the ${reader.schema} that this program reads`,
    );
  }
  const { seq, sha256 } = checked("frame", () => frame(document, ""));
  // The raw body, not the decoded one: members that this reader does not know are part of the checksum.
  const body = (document as { body: unknown }).body;
  const rewritten = checked("checksum", () => encode(schema, seq, body));
  if (rewritten.sha256 !== sha256) {
    throw new JournalCorruptError("checksum", `its checksum is ${sha256}, its content has ${rewritten.sha256}`);
  }
  if (!sameBytes(rewritten.bytes, bytes)) {
    throw new JournalCorruptError("form", "it is not in the one form that its writer makes");
  }
  return { schema, seq, body: checked("body", () => reader.body(body, "")) };
}
