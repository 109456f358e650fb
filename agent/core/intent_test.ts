import { assertEquals, assertStringIncludes } from "@std/assert";
import { canonicalDigest } from "../../contracts/digest.ts";
import { ATTEMPT_MAX_BYTES } from "../../contracts/limits.ts";
import { attemptOf, bytesOf, uuidOf } from "../../tests/fakes/agent_samples.ts";
import { identityOf } from "./attempt_identity.ts";
import { type Intent, readIntent } from "./intent.ts";

function invalid(intent: Intent) {
  if (intent.kind !== "invalid") throw new Error(`the intent is ${intent.kind}`);
  return intent;
}

Deno.test("readIntent() keeps the document as it came and takes the digest over all of it", () => {
  const document = { ...attemptOf(1), note: { newer: true } };
  const intent = readIntent(bytesOf(document), 7);
  if (intent.kind !== "attempt") throw new Error(intent.error);
  assertEquals(intent.document, document);
  assertEquals(intent.attempt, attemptOf(1));
  assertEquals(intent.digest, canonicalDigest(document));
  assertEquals(intent.revision, 7);
  assertEquals(intent.identity, identityOf({ attemptId: uuidOf(1), attemptDigest: intent.digest }));
});

Deno.test("readIntent() tells attempts with one UUID and other content apart", () => {
  const first = readIntent(bytesOf(attemptOf(1)), 1);
  const second = readIntent(bytesOf(attemptOf(1, { targetVersion: "3.0.0" })), 2);
  assertEquals(first.identity === second.identity, false);
  assertEquals(readIntent(bytesOf(attemptOf(1)), 3).identity, first.identity);
});

Deno.test("readIntent() identifies by revision what has no valid UUID", () => {
  for (const value of [new Uint8Array(), bytesOf("x"), bytesOf(null), bytesOf([1]), new Uint8Array([0xff])]) {
    const intent = invalid(readIntent(value, 9));
    assertEquals(intent.reason, "InvalidIntent");
    assertEquals(intent.attemptId, undefined);
    assertEquals(intent.identity, identityOf({ rejectedRevision: 9 }));
  }
  const intent = invalid(readIntent(bytesOf(attemptOf(1, { attemptId: uuidOf(1).toUpperCase() })), 9));
  assertEquals(intent.reason, "InvalidUuid");
  assertStringIncludes(intent.error, "attemptId: ");
  assertEquals(intent.identity, identityOf({ rejectedRevision: 9 }));
});

Deno.test("readIntent() keeps a valid UUID of what is wrong otherwise, and names the field", () => {
  const cases: [string, Partial<Record<keyof ReturnType<typeof attemptOf>, unknown>>][] = [
    ["targetVersion", { targetVersion: "../1" }],
    ["targetVersion", { targetVersion: "1.0.0".padEnd(65, "0") }],
    ["targetVersion", { targetVersion: "1.0 .0" }],
    ["deviceId", { deviceId: "a.b" }],
    ["arch", { arch: "riscv64" }],
    ["artifact.url", { artifact: { ...attemptOf(1).artifact, url: "http://artifacts.example/a" } }],
    ["artifact", { artifact: 1 }],
  ];
  for (const [field, overrides] of cases) {
    const intent = invalid(readIntent(bytesOf({ ...attemptOf(1), ...overrides }), 9));
    assertEquals(intent.reason, "InvalidIntent");
    assertStringIncludes(intent.error, `${field}: `);
    assertEquals(intent.attemptId, uuidOf(1));
    assertEquals(intent.digest?.length, 64);
  }
});

Deno.test("readIntent() refuses a newer schema", () => {
  assertEquals(invalid(readIntent(bytesOf(attemptOf(1, { schema: 2 })), 9)).reason, "SchemaUnsupported");
});

for (const extra of [-1, 0, 1]) {
  Deno.test(`readIntent() of ${ATTEMPT_MAX_BYTES + extra} bytes`, () => {
    const text = JSON.stringify(attemptOf(1)).padEnd(ATTEMPT_MAX_BYTES + extra, " ");
    const intent = readIntent(new TextEncoder().encode(text), 9);
    assertEquals(intent.kind, extra > 0 ? "invalid" : "attempt");
    // What is too large is not looked into, not even for its UUID.
    if (extra > 0) assertEquals(invalid(intent).attemptId, undefined);
  });
}

Deno.test("readIntent() rejects text that canonical JSON cannot express", () => {
  const text = JSON.stringify({ ...attemptOf(1), note: "x" }).replace('"x"', '"\\ud800"');
  assertEquals(invalid(readIntent(new TextEncoder().encode(text), 9)).reason, "InvalidIntent");
});
