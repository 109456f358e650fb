import { assertEquals } from "@std/assert";
import { codeOnly } from "./code_only.ts";

function squeezed(text: string): string {
  return codeOnly(text).replace(/ +/g, " ").trim();
}

Deno.test("codeOnly() blanks comments, strings, plain templates and regular expressions", () => {
  assertEquals(squeezed("a(); // b()\n/* c()\n */ d(\"e()\", 'f\\'()', `g()`);"), "a(); \n \n d( , , );");
  assertEquals(squeezed("const r = /https?:\\/\\/[/'\"]/g; next();"), "const r = g; next();");
});

Deno.test("codeOnly() keeps code: divisions, substitutions, and what follows a URL in a string", () => {
  assertEquals(squeezed("a / b / c"), "a / b / c");
  assertEquals(squeezed("(a) / 2; b() // x"), "(a) / 2; b()");
  assertEquals(squeezed('f("http://x"); g();'), "f( ); g();");
  assertEquals(squeezed("`${Date.now()} text`"), "`${Date.now()} text`");
});

Deno.test("codeOnly() keeps every line where it is", () => {
  const text = "a\n/*\n\n*/\n`\n`\nb";
  assertEquals(codeOnly(text).split("\n").length, text.split("\n").length);
});
