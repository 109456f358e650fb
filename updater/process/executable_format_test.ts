import { assertEquals, assertStringIncludes } from "@std/assert";
import { formatProblem } from "./executable_format.ts";

function elf(machine: number, size = 20): Uint8Array {
  const head = new Uint8Array(20);
  head.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  head.set([machine & 0xff, machine >> 8], 18);
  return head.subarray(0, size);
}

Deno.test("formatProblem() takes programs for this machine and scripts", () => {
  assertEquals(formatProblem(elf(62), "x86_64"), undefined);
  assertEquals(formatProblem(elf(183), "aarch64"), undefined);
  assertEquals(formatProblem(new TextEncoder().encode("#!/bin/sh\n"), "aarch64"), undefined);
});

Deno.test("formatProblem() names the other machine", () => {
  assertStringIncludes(formatProblem(elf(183), "x86_64") ?? "", "aarch64");
  assertStringIncludes(formatProblem(elf(62), "aarch64") ?? "", "x86_64");
  assertStringIncludes(formatProblem(elf(243), "x86_64") ?? "", "machine 243");
});

Deno.test("formatProblem() refuses what is neither", () => {
  const texts = ["", "#", "echo hello", "\u007fELF", "MZ", "{}"];
  for (const text of texts) {
    assertStringIncludes(formatProblem(new TextEncoder().encode(text), "x86_64") ?? "", "neither");
  }
  assertStringIncludes(formatProblem(elf(62, 19), "x86_64") ?? "", "neither");
});
