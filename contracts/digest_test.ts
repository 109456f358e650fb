import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { canonicalDigest, sha256Hex } from "./digest.ts";
import { FleetError } from "./errors.ts";

Deno.test({
  name: "sha256Hex() gives the vectors of FIPS 180-4, for texts and bytes alike",
  permissions: "none",
  fn() {
    const vectors: [string, string][] = [
      ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
      ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
      [
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
      ],
    ];
    for (const [text, digest] of vectors) {
      assertEquals(sha256Hex(text), digest);
      assertEquals(sha256Hex(new TextEncoder().encode(text)), digest);
    }
  },
});

Deno.test({
  name: "canonicalDigest() binds the content and nothing else",
  permissions: "none",
  fn() {
    const digest = canonicalDigest({ b: [1, "ö"], a: null });
    // sha256 of the UTF-8 of {"a":null,"b":[1,"ö"]}, taken with sha256sum.
    assertEquals(digest, "9d5c47518a06445535131f6b8f0d1aa2e7be65b35b529de0c930c792d6c08deb");
    assertEquals(canonicalDigest(JSON.parse('{ "a" : null, "b" : [ 1.0, "\\u00f6" ] }')), digest);
    assertNotEquals(canonicalDigest({ b: [1, "ö"], a: null, unknown: 0 }), digest);
    assertNotEquals(canonicalDigest({ b: ["ö", 1], a: null }), digest);
  },
});

Deno.test({
  name: "canonicalDigest() refuses what has no canonical form",
  permissions: "none",
  fn() {
    assertEquals(assertThrows(() => canonicalDigest({ a: NaN }), FleetError).code, "E_CANONICAL");
  },
});
