import { assertEquals, assertThrows } from "@std/assert";
import { stampBundle } from "./stamp_bundle.ts";

Deno.test("stampBundle() replaces version and form, minified or not, and no other text", () => {
  assertEquals(
    stampBundle('var a="source",Bs="0.0.0-unbuilt",mi="source";f("source");', "1.2.3", "script"),
    'var a="source",Bs="1.2.3",mi="script";f("source");',
  );
  assertEquals(
    stampBundle('var BUILD_VERSION = "0.0.0-unbuilt";\nvar BUILD_FORM = "source";\n', "1.2.3-rc.1", "compiled"),
    'var BUILD_VERSION = "1.2.3-rc.1";\nvar BUILD_FORM = "compiled";\n',
  );
});

Deno.test("stampBundle() fails when a placeholder is missing or there twice", () => {
  for (
    const bundle of [
      "",
      'var a="0.0.0-unbuilt";',
      'var b="source";',
      'var a="0.0.0-unbuilt",b="source",c="0.0.0-unbuilt";',
      'var a="0.0.0-unbuilt",b="source",c="0.0.0-unbuilt",d="source";',
    ]
  ) assertThrows(() => stampBundle(bundle, "1.0.0", "script"), Error, "wanted once each");
});
