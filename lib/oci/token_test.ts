import { assertEquals } from "@std/assert";
import { OCI_TOKEN_MAX_CHARS } from "../../contracts/limits.ts";
import { tokenOf, tokenUrl } from "./token.ts";

const SCOPE = "repository:a/b:pull";

function urlOf(realm: string, more: { service?: string; scope?: string } = {}): string {
  const asked = tokenUrl({ kind: "bearer", realm, ...more }, SCOPE);
  return "url" in asked ? asked.url : asked.problem;
}

Deno.test("tokenUrl() asks for what the registry names, or for the repository", () => {
  assertEquals(urlOf("https://auth.example/token"), "https://auth.example/token?scope=repository%3Aa%2Fb%3Apull");
  assertEquals(
    urlOf("https://auth.example/token?x=1#y", { service: "a b&c", scope: "repository:a:pull registry:catalog:*" }),
    "https://auth.example/token?x=1&service=a+b%26c&scope=repository%3Aa%3Apull&scope=registry%3Acatalog%3A*",
  );
});

Deno.test("tokenUrl() refuses realms that are not https, or not a service", () => {
  assertEquals(urlOf("http://auth.example/token"), "its tokens do not come over https");
  assertEquals(urlOf("file:///etc/passwd"), "its tokens do not come over https");
  assertEquals(urlOf("/token"), "it names no URL for tokens");
  assertEquals(urlOf("https://user:secret@auth.example/"), "its URL for tokens has credentials");
  for (const scope of ["a\nb", "a&b", "", "x".repeat(1_025)]) {
    assertEquals(urlOf("https://auth.example/", { scope }), "it names a scope that is none");
  }
});

Deno.test("tokenOf() takes a token that can stand in a header", () => {
  assertEquals(tokenOf({ token: "a.b-c_d~+/=" }), "a.b-c_d~+/=");
  assertEquals(tokenOf({ access_token: "x" }), "x");
  for (const value of [null, 1, "x", [], {}, { token: 1 }, { token: "" }, { token: "a b" }, { token: "a\r\nx: y" }]) {
    assertEquals(tokenOf(value), undefined, JSON.stringify(value));
  }
  for (const extra of [-1, 0, 1]) {
    const token = "t".repeat(OCI_TOKEN_MAX_CHARS + extra);
    assertEquals(tokenOf({ token }), extra > 0 ? undefined : token);
  }
});
