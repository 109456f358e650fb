import { assertEquals } from "@std/assert";
import { certificatesExpireMs, tokenExpiresMs } from "./credential_expiry.ts";

function jwt(claims: unknown): string {
  const part = (value: unknown) =>
    btoa(JSON.stringify(value)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return `${part({ alg: "none" })}.${part(claims)}.c2ln`;
}

Deno.test("tokenExpiresMs() reads a token, alone or in a credentials file", () => {
  const token = jwt({ exp: 1_800_000_000, sub: "device?>~" });
  assertEquals(tokenExpiresMs(token), 1_800_000_000_000);
  const file = `-----BEGIN NATS USER JWT-----\n${token}\n------END NATS USER JWT------\n`;
  assertEquals(tokenExpiresMs(file), 1_800_000_000_000);
});

Deno.test("tokenExpiresMs() is null for what does not expire or is no token", () => {
  for (const text of [jwt({}), jwt({ exp: "1" }), jwt({ exp: 0 }), jwt(null), jwt(1), "", "secret", "a.b.c", "a.!.c"]) {
    assertEquals(tokenExpiresMs(text), null);
  }
});

Deno.test("certificatesExpireMs() passes over what is no certificate", () => {
  assertEquals(certificatesExpireMs(""), null);
  assertEquals(certificatesExpireMs("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"), null);
});
