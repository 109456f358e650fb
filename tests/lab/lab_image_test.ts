import { assertEquals } from "@std/assert";
import { sourcesFor } from "./lab_image.ts";

Deno.test("sourcesFor() names another suite and leaves mirrors and keys alone", () => {
  const own = "URIs: http://mirror/bookworms\nSuites: bookworm bookworm-updates\nSigned-By: /k/bookworm.gpg\n";
  assertEquals(
    sourcesFor(own, "bookworm", "trixie"),
    "URIs: http://mirror/bookworms\nSuites: trixie trixie-updates\nSigned-By: /k/bookworm.gpg\n",
  );
});
