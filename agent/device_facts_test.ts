import { assertEquals } from "@std/assert";
import { SHORT_TEXT_MAX_CHARS } from "../contracts/limits.ts";
import { normalBootId, parseOsRelease } from "./device_facts.ts";

Deno.test("parseOsRelease() reads the quotings of os-release(5)", () => {
  assertEquals(parseOsRelease('PRETTY_NAME="Debian"\nID=debian\nVERSION_ID="12"\n'), { name: "debian", version: "12" });
  assertEquals(parseOsRelease("NAME='My OS'\nVERSION_ID=7 \n"), { name: "My OS", version: "7" });
  assertEquals(parseOsRelease(""), { name: "linux", version: "" });
});

for (const extra of [-1, 0, 1]) {
  Deno.test(`parseOsRelease() with a name of ${SHORT_TEXT_MAX_CHARS + extra} characters`, () => {
    const { name } = parseOsRelease(`ID=${"a".repeat(SHORT_TEXT_MAX_CHARS + extra)}\n`);
    assertEquals(name.length, Math.min(SHORT_TEXT_MAX_CHARS, SHORT_TEXT_MAX_CHARS + extra));
  });
}

Deno.test("normalBootId() gives the kernel's form of what systemd or the kernel says", () => {
  const id = "e62a7f47-277f-40a7-a2de-4a5f9c2407f6";
  assertEquals(normalBootId(id.replaceAll("-", "")), id);
  assertEquals(normalBootId(`${id}\n`), id);
  assertEquals(normalBootId("another form"), "another form");
  assertEquals(normalBootId(""), "unknown");
});
