/**
 * The wire documents as they are written, reviewed as files. `UPDATE_GOLDEN=1 deno test -A tests/golden/wire_test.ts`
 * writes them anew; a difference in review is a change of the contract.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { decodeBytes } from "../../contracts/codec.ts";
import { canonicalDigest } from "../../contracts/digest.ts";
import { FleetError } from "../../contracts/errors.ts";
import { assertGolden } from "./golden.ts";
import { WIRE_SAMPLES, type WireSample } from "./wire_samples.ts";

const DIRECTORY = new URL("./wire/", import.meta.url);

function encoded(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

for (const sample of WIRE_SAMPLES) {
  Deno.test(`golden ${sample.name}: written as reviewed, decoded, written again`, async () => {
    await assertGolden(`wire/${sample.name}.json`, encoded(sample.document));
    const bytes = await Deno.readFile(new URL(`${sample.name}.json`, DIRECTORY));
    const decoded = decodeBytes(sample.decoder, bytes, sample.maxBytes);
    assertEquals(decoded, sample.decoded ?? sample.document);
    if (sample.decoded === undefined) assertEquals(encoded(decoded), encoded(sample.document));
  });
}

Deno.test("golden digests: the canonical digest of every sample, for implementations in other languages", async () => {
  const digests = WIRE_SAMPLES.map(({ name, document }) => [`${name}.json`, canonicalDigest(document)]);
  await assertGolden("wire/digests.json", encoded(Object.fromEntries(digests)));
});

Deno.test("golden directory: no file without a sample", async () => {
  const files = [];
  for await (const entry of Deno.readDir(DIRECTORY)) files.push(entry.name);
  assertEquals(files.sort(), [...WIRE_SAMPLES.map(({ name }) => `${name}.json`), "digests.json"].sort());
});

function tryDecode(sample: WireSample, bytes: Uint8Array, what: string): boolean {
  try {
    decodeBytes(sample.decoder, bytes, sample.maxBytes);
    return true;
  } catch (error) {
    assert(error instanceof FleetError && error.code === "E_DECODE", `${what}: ${String(error)}`);
    return false;
  }
}

Deno.test("golden samples cut at any byte give E_DECODE and nothing else", () => {
  for (const sample of WIRE_SAMPLES) {
    const bytes = new TextEncoder().encode(JSON.stringify(sample.document));
    for (let length = 0; length < bytes.byteLength; length++) {
      assert(
        !tryDecode(sample, bytes.subarray(0, length), `${sample.name} cut at ${length}`),
        `${length} bytes decode`,
      );
    }
  }
});

Deno.test("golden samples with damaged bytes decode or give E_DECODE, never anything else", () => {
  const seed = Number(Deno.env.get("SEED") ?? crypto.getRandomValues(new Uint32Array(1))[0]);
  let state = seed;
  const below = (bound: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  const troublesome = new TextEncoder().encode('{}[]",:\\0-9eEtrufalsn \u0000');
  let decoded = 0;
  for (const sample of WIRE_SAMPLES) {
    const good = new TextEncoder().encode(JSON.stringify(sample.document));
    for (let round = 0; round < 400; round++) {
      const bytes = good.slice();
      for (let damage = below(3); damage >= 0; damage--) {
        bytes[below(bytes.byteLength)] = below(2) === 0 ? below(256) : troublesome[below(troublesome.byteLength)] ?? 0;
      }
      if (tryDecode(sample, bytes, `SEED=${seed} ${sample.name} round ${round}`)) decoded++;
    }
  }
  // A change inside of a free text still decodes: the rest must not hide behind rejections.
  assert(decoded > 0, `SEED=${seed}`);
});
