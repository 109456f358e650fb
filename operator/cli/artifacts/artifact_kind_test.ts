import { assertEquals } from "@std/assert";
import { artifactKind } from "./artifact_kind.ts";

function program(machine: number, overrides: Readonly<Record<number, number>> = {}): Uint8Array {
  const head = new Uint8Array(64);
  head.set([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
  new DataView(head.buffer).setUint16(18, machine, true);
  for (const [at, value] of Object.entries(overrides)) head[Number(at)] = value;
  return head;
}

Deno.test("artifactKind() knows programs of both architectures, and scripts", () => {
  assertEquals(artifactKind(program(62)), { form: "compiled", arch: "x86_64" });
  assertEquals(artifactKind(program(183)), { form: "compiled", arch: "aarch64" });
  assertEquals(artifactKind(program(183).subarray(0, 20)), { form: "compiled", arch: "aarch64" });
  assertEquals(artifactKind(new TextEncoder().encode("#!/usr/bin/env deno")), { form: "script" });
});

Deno.test("artifactKind() knows nothing else", () => {
  const heads = [
    program(3),
    program(62, { 4: 1 }),
    program(62, { 5: 2 }),
    program(62).subarray(0, 19),
    new Uint8Array(),
    new TextEncoder().encode("<!DOCTYPE html>"),
    new TextEncoder().encode("#"),
    new Uint8Array([0x1f, 0x8b]),
  ];
  for (const head of heads) assertEquals(artifactKind(head), null);
  // A part of a larger buffer is read where it begins.
  const within = new Uint8Array(100);
  within.set(program(183), 36);
  assertEquals(artifactKind(within.subarray(36)), { form: "compiled", arch: "aarch64" });
});
