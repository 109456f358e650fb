import { assertEquals } from "@std/assert";
import { OCI_CHALLENGE_MAX_CHARS } from "../../contracts/limits.ts";
import { parseChallenges } from "./challenge.ts";

const REALM = "https://auth.example/token";

Deno.test("parseChallenges() reads what registries send", () => {
  const bearer = { kind: "bearer", realm: REALM, service: "registry.example", scope: "repository:a/b:pull" } as const;
  const headers = [
    `Bearer realm="${REALM}",service="registry.example",scope="repository:a/b:pull"`,
    `bearer  REALM = "${REALM}" , Service=registry.example ,scope="repository:a/b:pull", error="invalid_token"`,
    `Bearer realm="${REALM}",service="registry.example",scope="repository:a/b:pull",scope="repository:x:push"`,
  ];
  for (const header of headers) assertEquals(parseChallenges(header), [bearer], header);
  assertEquals(parseChallenges(`Basic realm="x", ${headers[0]}`), [{ kind: "basic" }, bearer]);
  assertEquals(parseChallenges(`Negotiate, Basic realm="a, Bearer realm=b"`), [{ kind: "basic" }]);
  assertEquals(parseChallenges('Bearer realm="a\\"b"'), [{ kind: "bearer", realm: 'a"b' }]);
});

Deno.test("parseChallenges() takes nothing from what it cannot read", () => {
  for (const header of [null, "", ",", "Bearer", "Bearer x", "Digest realm=a", 'realm="x"', "=", '"', "Bearer =x"]) {
    assertEquals(parseChallenges(header), [], `${header}`);
  }
  assertEquals(parseChallenges('Bearer realm="never ends'), []);
  assertEquals(parseChallenges('Bearer service="x"'), []);
});

Deno.test("parseChallenges() at its limit, and in time", () => {
  const start = 'Basic x="';
  for (const extra of [-1, 0, 1]) {
    const header = `${start}${"y".repeat(OCI_CHALLENGE_MAX_CHARS + extra - start.length - 1)}"`;
    assertEquals(parseChallenges(header).length, extra > 0 ? 0 : 1);
  }
  const startedMs = performance.now();
  for (const part of ["a ", "a=", 'a="', "\\", "a,", ", ", 'a="\\', "a b ", "\t"]) {
    parseChallenges(part.repeat(OCI_CHALLENGE_MAX_CHARS / part.length));
  }
  assertEquals(performance.now() - startedMs < 1_000, true);
});
