/**
 * A full journal, written and read: ours is canonical and checksummed, and checks every byte and field; theirs is the
 * JSON of the runtime, which does neither and is the least that a journal could cost.
 *
 * @module
 */
import { JOURNAL_HISTORY_MAX, JOURNAL_MAX_BYTES } from "../contracts/limits.ts";
import { decodeJournal, encodeJournal } from "../lib/journal/journal_codec.ts";
import { SAMPLE_PATHS, SAMPLE_RECORDS, SAMPLE_START_MS } from "../tests/fakes/upgrade_samples.ts";
import { RECORD_SCHEMA, recordDecoder, type UpdaterRecord } from "../updater/core/record.ts";
import { compare } from "./comparison.ts";

const HEX_DIGITS_OF_NUMBER = 12;
const SHA256_HEX_CHARS = 64;

function fullRecord(): UpdaterRecord {
  return {
    transaction: SAMPLE_RECORDS["rollback-failed"]?.transaction ?? null,
    history: Array.from({ length: JOURNAL_HISTORY_MAX }, (_, index) => ({
      attemptId: `0b9c3d1e-6f5a-4b7c-8d9e-${index.toString(16).padStart(HEX_DIGITS_OF_NUMBER, "0")}`,
      attemptDigest: index.toString(16).padStart(SHA256_HEX_CHARS, "0"),
      phase: "failed",
      reason: "NeverReady",
      at: new Date(SAMPLE_START_MS + index).toISOString(),
    })),
  };
}

const content = { schema: RECORD_SCHEMA, seq: 1_000, body: fullRecord() };
const reader = { schema: RECORD_SCHEMA, body: recordDecoder(SAMPLE_PATHS), maxBytes: JOURNAL_MAX_BYTES };
const utf8 = new TextEncoder();
const text = new TextDecoder();
/** Keeps what is read alive, so that none of it can be left out. */
let outcomes = 0;

compare({
  group: "journal-codec-64-outcomes",
  ours: {
    runSync: () => {
      outcomes += decodeJournal(encodeJournal(content, JOURNAL_MAX_BYTES), reader).body.history.length;
    },
  },
  theirs: {
    json: {
      runSync: () => {
        const read: typeof content = JSON.parse(text.decode(utf8.encode(JSON.stringify(content))));
        outcomes += read.body.history.length;
      },
    },
  },
});
