import { assert, assertEquals, assertThrows } from "@std/assert";
import { sha256Hex } from "../../contracts/digest.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { Sha256Stream } from "./sha256_stream.ts";

Deno.test("the digest of a stream does not depend on how it is cut", () => {
  const seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  const bytes = Uint8Array.from({ length: 10_000 }, (_, index) => (index * 31 + seed) & 0xff);
  for (const chunkBytes of [1, 63, 64, 65, 4_096, 10_000]) {
    const digest = new Sha256Stream(bytes.byteLength);
    for (let at = 0; at < bytes.byteLength; at += chunkBytes) digest.update(bytes.subarray(at, at + chunkBytes));
    assertEquals(digest.hex(), sha256Hex(bytes), `seed ${seed}, chunks of ${chunkBytes}`);
    assertEquals(digest.sizeBytes, bytes.byteLength);
  }
});

Deno.test("hex() can be asked before the end and more than once", () => {
  const digest = new Sha256Stream(3);
  assertEquals(digest.hex(), sha256Hex(""));
  digest.update(new TextEncoder().encode("ab"));
  assertEquals(digest.hex(), sha256Hex("ab"));
  digest.update(new TextEncoder().encode("c"));
  assertEquals([digest.hex(), digest.hex()], [sha256Hex("abc"), sha256Hex("abc")]);
});

for (const [excess, accepted] of [[-1, true], [0, true], [1, false]] as const) {
  Deno.test(`a stream of the byte limit ${excess < 0 ? excess : `+${excess}`} is ${accepted ? "taken" : "refused"}`, () => {
    const digest = new Sha256Stream(100);
    digest.update(new Uint8Array(60));
    const rest = new Uint8Array(40 + excess);
    if (accepted) {
      digest.update(rest);
      assertEquals(digest.sizeBytes, 100 + excess);
      return;
    }
    const error = assertThrows(() => digest.update(rest));
    assert(isFleetError(error, "E_BYTE_LIMIT"));
    assertEquals(error.failureClass, "policy");
    assertEquals([digest.sizeBytes, digest.hex()], [60, sha256Hex(new Uint8Array(60))]);
  });
}
