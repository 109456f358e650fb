import { assert, assertEquals, assertThrows } from "@std/assert";
import { canonicalJson } from "../../contracts/canonical_json.ts";
import { type Decoder, integer, list, object, text } from "../../contracts/codec.ts";
import { sha256Hex } from "../../contracts/digest.ts";
import { FleetError, isFleetError } from "../../contracts/errors.ts";
import { JOURNAL_MAX_BYTES, JSON_DEPTH_MAX } from "../../contracts/limits.ts";
import { decodeJournal, encodeJournal, type JournalCheck, JournalCorruptError } from "./journal_codec.ts";

const SCHEMA = 3;
const BODY: Decoder<{ name: string; counts: number[] }> = object({
  name: text({ what: "a name", maxChars: JOURNAL_MAX_BYTES, minChars: 0 }),
  counts: list(integer(0), 10),
});
const READER = { schema: SCHEMA, body: BODY, maxBytes: JOURNAL_MAX_BYTES };
const SAMPLE = { schema: SCHEMA, seq: 17, body: { name: "größer \u0000 \u{1f600}", counts: [0, 1, 2_000] } };

function bytesOf(source: string): Uint8Array {
  return new TextEncoder().encode(source);
}

/** A journal with a right checksum around any content. */
function framed(schema: number, seq: number, body: unknown): Uint8Array {
  const sha256 = sha256Hex(canonicalJson({ body, schema, seq }));
  return bytesOf(`${canonicalJson({ body, schema, seq, sha256 })}\n`);
}

function assertCorrupt(bytes: Uint8Array, check: JournalCheck, message = ""): JournalCorruptError {
  const error = assertThrows(() => decodeJournal(bytes, READER), JournalCorruptError, message);
  assertEquals([error.check, error.code, error.retry], [check, "E_JOURNAL_CORRUPT", "permanent"], error.message);
  return error;
}

Deno.test("a journal has the documented form", () => {
  const bytes = encodeJournal({ schema: 1, seq: 1, body: { b: 1, a: [] } }, JOURNAL_MAX_BYTES);
  const sha256 = sha256Hex('{"body":{"a":[],"b":1},"schema":1,"seq":1}');
  assertEquals(new TextDecoder().decode(bytes), `{"body":{"a":[],"b":1},"schema":1,"seq":1,"sha256":"${sha256}"}\n`);
});

Deno.test("a journal that was encoded decodes to the same content", () => {
  assertEquals(decodeJournal(encodeJournal(SAMPLE, JOURNAL_MAX_BYTES), READER), SAMPLE);
});

Deno.test("members of the body that the reader does not know are covered by the checksum and left out", () => {
  const bytes = framed(SCHEMA, 1, { ...SAMPLE.body, later: true });
  assertEquals(decodeJournal(bytes, READER).body, SAMPLE.body);
  const flipped = bytesOf(new TextDecoder().decode(bytes).replace('"later":true', '"later":null'));
  assertCorrupt(flipped, "checksum");
});

Deno.test("every flipped bit of a journal is found", () => {
  const bytes = encodeJournal(SAMPLE, JOURNAL_MAX_BYTES);
  for (let bit = 0; bit < bytes.byteLength * 8; bit++) {
    const flipped = bytes.slice();
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assertThrows(() => decodeJournal(flipped, READER), JournalCorruptError, "", `bit ${bit}`);
  }
});

Deno.test("every truncation of a journal is found", () => {
  const bytes = encodeJournal(SAMPLE, JOURNAL_MAX_BYTES);
  assertCorrupt(new Uint8Array(), "truncated", "Cannot trust the journal: it is empty");
  for (let length = 1; length < bytes.byteLength; length++) assertCorrupt(bytes.slice(0, length), "truncated");
});

Deno.test("torn files are found: zeroes, a zeroed half, the tail of a longer one", () => {
  const bytes = encodeJournal(SAMPLE, JOURNAL_MAX_BYTES);
  assertCorrupt(new Uint8Array(4_096), "truncated");
  assertCorrupt(bytes.slice().fill(0, 0, bytes.byteLength / 2), "json");
  const longer = encodeJournal({ ...SAMPLE, body: { ...SAMPLE.body, name: "y".repeat(500) } }, JOURNAL_MAX_BYTES);
  const mixed = longer.slice();
  mixed.set(bytes);
  assertCorrupt(mixed, "json");
});

Deno.test("trailing data, white space, another order and a repeated member are found", () => {
  const source = new TextDecoder().decode(encodeJournal(SAMPLE, JOURNAL_MAX_BYTES));
  assertCorrupt(bytesOf(`${source}x`), "truncated");
  assertCorrupt(bytesOf(`${source}${source}`), "json");
  assertCorrupt(bytesOf(`${source}\n`), "form");
  assertCorrupt(bytesOf(` ${source}`), "form");
  assertCorrupt(bytesOf(source.replace("{", '{"seq":1,')), "form");
  assertCorrupt(bytesOf(source.replace('{"body"', '{"extra":1,"body"')), "form");
  assertCorrupt(bytesOf(source.replace("2000", "2e3")), "form");
});

Deno.test("another schema is called newer or older", () => {
  const newer = "Cannot trust the journal: its schema is 4, newer than the 3 that this program reads";
  assertCorrupt(framed(SCHEMA + 1, 1, { unknown: [] }), "schema", newer);
  assertCorrupt(bytesOf('{"schema":4,"anything":1}\n'), "schema", newer);
  assertCorrupt(framed(SCHEMA - 1, 1, SAMPLE.body), "schema", "older than the 3");
});

Deno.test("a broken frame is found", () => {
  assertCorrupt(bytesOf("[]\n"), "schema");
  assertCorrupt(bytesOf("{}\n"), "schema");
  assertCorrupt(bytesOf('{"schema":0}\n'), "schema");
  assertCorrupt(bytesOf('{"schema":3}\n'), "frame");
  assertCorrupt(framed(SCHEMA, 0, SAMPLE.body), "frame", "seq: is 0");
  assertCorrupt(framed(SCHEMA, 1, []), "frame", "body: must be an object");
  assertCorrupt(bytesOf('{"body":{"a":"\\ud800"},"schema":3,"seq":1,"sha256":"' + "0".repeat(64) + '"}\n'), "json");
  assertCorrupt(bytesOf(`${"[".repeat(JSON_DEPTH_MAX + 1)}\n`), "json", "nested deeper");
});

Deno.test("a body that breaks its contract is named with its field", () => {
  const error = assertCorrupt(framed(SCHEMA, 1, { name: "x", counts: [1, "2"] }), "body", "counts[1]");
  assertEquals(error.field, "counts[1]");
});

for (const [excess, accepted] of [[-1, true], [0, true], [1, false]] as const) {
  Deno.test(`a journal of the byte limit ${excess < 0 ? excess : `+${excess}`} is ${accepted ? "taken" : "refused"}`, () => {
    const empty = { ...SAMPLE, body: { name: "", counts: [] } };
    const frameBytes = encodeJournal(empty, JOURNAL_MAX_BYTES).byteLength;
    const content = { ...empty, body: { name: "x".repeat(JOURNAL_MAX_BYTES + excess - frameBytes), counts: [] } };
    const bytes = encodeJournal(content, JOURNAL_MAX_BYTES + 1);
    assertEquals(bytes.byteLength, JOURNAL_MAX_BYTES + excess);
    if (accepted) {
      assertEquals(decodeJournal(bytes, READER), content);
      assertEquals(encodeJournal(content, JOURNAL_MAX_BYTES), bytes);
      return;
    }
    assertCorrupt(bytes, "size", `it has ${JOURNAL_MAX_BYTES + 1} bytes, at most ${JOURNAL_MAX_BYTES}`);
    const error = assertThrows(() => encodeJournal(content, JOURNAL_MAX_BYTES), FleetError);
    assert(isFleetError(error, "E_JOURNAL_TOO_LARGE"));
  });
}

Deno.test("a body that JSON cannot express is refused when it is written", () => {
  const error = assertThrows(() => encodeJournal({ schema: 1, seq: 1, body: { at: NaN } }, 1_000), FleetError);
  assert(isFleetError(error, "E_CANONICAL"));
});
