import { assertEquals, assertThrows } from "@std/assert";
import { FleetError } from "../../../contracts/errors.ts";
import { loginOf } from "./auth_file.ts";

const HOST = "registry.example:5000";
const of = (auths: unknown) => loginOf(JSON.stringify({ auths }), HOST, "auth.json");

Deno.test("loginOf() finds the login of a registry, and none of another", () => {
  const auth = btoa("ci:pass:with:colons");
  assertEquals(of({ [HOST]: { auth } }), { user: "ci", password: "pass:with:colons" });
  for (const auths of [{}, { "registry.example": { auth } }, undefined, null]) assertEquals(of(auths), undefined);
});

Deno.test("loginOf() says what is wrong with a file, and never what is in it", () => {
  const cases: readonly (readonly [unknown, string])[] = [
    [{ [HOST]: {} }, "is kept by a helper program"],
    [{ [HOST]: null }, "is kept by a helper program"],
    [{ [HOST]: { auth: "%%%" } }, "is no base64"],
    [{ [HOST]: { auth: btoa("s3cret") } }, "has no user"],
  ];
  for (const [auths, problem] of cases) {
    const error = assertThrows(() => of(auths), FleetError);
    assertEquals([error.code, error.message], ["E_USAGE", `Cannot use auth.json: its login for ${HOST} ${problem}`]);
  }
  assertThrows(() => loginOf("s3cret", HOST, "auth.json"), FleetError, "Cannot use auth.json: it is no JSON");
});
