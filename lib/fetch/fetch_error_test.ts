import { assertEquals, assertStringIncludes } from "@std/assert";
import { FleetError } from "../../contracts/errors.ts";
import { bodyError, fetchError, isWorthRepeating, requestError, shownUrl } from "./fetch_error.ts";

const PLACE = { shownUrl: "https://host/agent" };

/** An error as the runtime throws it. */
function foreign(detail: string): Error {
  const url = "https://host/tls-certificate expired-dns error";
  return new TypeError("fetch failed", {
    cause: new Error(`error sending request for url (${url}): client error (Connect): ${detail}`),
  });
}

Deno.test("shownUrl() leaves out what may hold a secret", () => {
  assertEquals(shownUrl("https://host:1/agent?signature=x#y"), "https://host:1/agent");
  assertEquals(shownUrl("https://host/agent#y?z"), "https://host/agent");
});

Deno.test("requestError() sorts by what the runtime says and not by what the URL says", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["invalid peer certificate: UnknownIssuer", "E_FETCH_TLS"],
    ["invalid peer certificate: certificate expired: verification time 1", "E_FETCH_TLS"],
    ["invalid peer certificate: certificate not valid yet: verification time 1", "E_FETCH_TLS"],
    ['invalid peer certificate: certificate not valid for name "x"', "E_FETCH_TLS"],
    ["invalid peer certificate: CaUsedAsEndEntity", "E_FETCH_TLS"],
    ["invalid peer certificate: BadSignature", "E_FETCH_TLS"],
    ["tls handshake eof", "E_FETCH_TLS"],
    ["received corrupt message of type InvalidContentType", "E_FETCH_TLS"],
    ["dns error: failed to lookup address information", "E_FETCH_DNS"],
    ["tcp connect error: Connection refused (os error 111)", "E_FETCH_CONNECT"],
    ["tcp connect error: Network is unreachable (os error 101)", "E_FETCH_CONNECT"],
    ["something new", "E_FETCH_CONNECT"],
  ];
  for (const [detail, code] of cases) {
    const error = requestError(PLACE, foreign(detail));
    const retry = detail.includes("peer certificate") ? "permanent" : "transient";
    assertEquals([error.code, error.failureClass, error.retry], [code, "environment", retry], detail);
    assertEquals(isWorthRepeating(error), retry === "transient", detail);
    assertStringIncludes(error.message, "Cannot fetch https://host/agent: ");
  }
});

Deno.test("requestError() takes a blocked port for a wrong release", () => {
  const error = requestError(PLACE, new TypeError("Fetch failed: Requests to port 6000 are blocked"));
  assertEquals([error.code, error.failureClass], ["E_FETCH_URL", "policy"]);
});

Deno.test("errors that are typed already stay as they are", () => {
  const typed = new FleetError("x", { code: "E_X" });
  assertEquals(requestError(PLACE, typed), typed);
  assertEquals(bodyError(PLACE, 1, 2, typed), typed);
});

Deno.test("bodyError() says how much came", () => {
  assertStringIncludes(bodyError(PLACE, 5, 10, undefined).message, "after 5 of 10 bytes");
  assertStringIncludes(bodyError(PLACE, 5, undefined, undefined).message, "after 5 bytes");
  assertEquals(fetchError(PLACE, "E_FETCH_RANGE", "x", "policy").retry, "permanent");
});

Deno.test("isWorthRepeating() is true for faults of the environment that may pass by themselves", () => {
  const environment = (code: string) => fetchError(PLACE, code, "x", "environment");
  for (const code of ["E_FETCH_CONNECT", "E_FETCH_DNS", "E_FETCH_TRUNCATED", "E_FETCH_TIMEOUT", "E_FETCH_STATUS"]) {
    assertEquals(isWorthRepeating(environment(code)), true, code);
    assertEquals(isWorthRepeating(fetchError(PLACE, code, "x", "policy")), false, code);
  }
  for (const code of ["E_FETCH_RANGE", "E_FETCH_CANCELED", "E_FETCH_CA_FILE"]) {
    assertEquals(isWorthRepeating(environment(code)), false, code);
  }
  assertEquals(isWorthRepeating(new TypeError("x")), false);
});
