import { assertEquals } from "@std/assert";
import { redirectTarget } from "./redirect_target.ts";

const FROM = "https://registry.example/v2/a/blobs/sha256:00";

function targetOf(status: number, location: string | null): string {
  const target = redirectTarget(FROM, status, location);
  if (target.kind === "follow") return target.url;
  return target.kind === "none" ? "none" : target.problem;
}

Deno.test("redirectTarget() follows https to https", () => {
  for (const status of [301, 302, 307, 308]) {
    assertEquals(targetOf(status, "https://storage.example/x?signature=y#z"), "https://storage.example/x?signature=y");
    assertEquals(targetOf(status, "/x"), "https://registry.example/x");
    assertEquals(targetOf(status, "//other.example/x"), "https://other.example/x");
  }
  for (const status of [200, 206, 300, 303, 304, 305, 404]) {
    assertEquals(targetOf(status, "https://x.example/"), "none");
  }
});

Deno.test("redirectTarget() refuses everything else", () => {
  assertEquals(targetOf(307, null), "to nowhere");
  assertEquals(targetOf(307, "https://"), "to nowhere");
  assertEquals(targetOf(307, "http://storage.example/"), "to http, must be https");
  assertEquals(targetOf(307, "file:///etc/passwd"), "to file, must be https");
  assertEquals(targetOf(307, "data:text/plain,x"), "to data, must be https");
  assertEquals(targetOf(307, "https://user@storage.example/"), "to a URL with credentials");
  assertEquals(targetOf(307, "https://:secret@storage.example/"), "to a URL with credentials");
});
