import { assertEquals, assertThrows } from "@std/assert";
import { FleetError } from "../../contracts/errors.ts";
import { type AskedFor, planBody } from "./response_rules.ts";

const MAX_BYTES = 1_000;

function asked(some: Partial<AskedFor> = {}): AskedFor {
  return { shownUrl: "https://host/agent", maxBytes: MAX_BYTES, offsetBytes: 0, validator: undefined, ...some };
}

function refusal(some: Partial<AskedFor>, status: number, headers: Record<string, string> = {}): string {
  const error = assertThrows(() => planBody(asked(some), status, new Headers(headers)), FleetError);
  assertEquals(error.retry, error.failureClass === "environment" ? "transient" : "permanent");
  return `${error.code} ${error.failureClass}`;
}

Deno.test("planBody() takes a length at the limit and refuses one above it before the body", () => {
  const at = (length: number) => planBody(asked(), 200, new Headers({ "content-length": `${length}` })).totalBytes;
  assertEquals(at(MAX_BYTES - 1), MAX_BYTES - 1);
  assertEquals(at(MAX_BYTES), MAX_BYTES);
  assertEquals(refusal({}, 200, { "content-length": `${MAX_BYTES + 1}` }), "E_FETCH_TOO_LARGE policy");
});

Deno.test("planBody() leaves a missing or senseless length to the counting", () => {
  for (const headers of [{}, { "content-length": "-1" }, { "content-length": "many" }]) {
    assertEquals(planBody(asked(), 200, new Headers(headers)).totalBytes, undefined);
  }
});

Deno.test("planBody() refuses every redirect", () => {
  for (const status of [301, 302, 303, 307, 308]) {
    assertEquals(refusal({}, status, { location: "https://host/other" }), "E_FETCH_REDIRECT policy");
  }
});

Deno.test("planBody() tells a wrong release from a server in trouble by the status", () => {
  for (const status of [201, 204, 206, 300, 304, 400, 401, 403, 404, 410, 416, 451]) {
    assertEquals(refusal({}, status), "E_FETCH_STATUS policy");
  }
  for (const status of [407, 408, 425, 429, 500, 502, 503, 504, 599]) {
    assertEquals(refusal({}, status), "E_FETCH_STATUS environment");
  }
});

Deno.test("planBody() refuses an encoded body", () => {
  for (const encoding of ["gzip", "br", "deflate", "zstd", "identity, gzip"]) {
    assertEquals(refusal({}, 200, { "content-encoding": encoding }), "E_FETCH_ENCODING policy");
  }
  assertEquals(planBody(asked(), 200, new Headers({ "content-encoding": "Identity" })).skipBytes, 0);
});

Deno.test("planBody() keeps strong validators only", () => {
  const validator = (headers: Record<string, string>) => planBody(asked(), 200, new Headers(headers)).validator;
  assertEquals(validator({ etag: '"v1"' }), '"v1"');
  assertEquals(validator({ etag: 'W/"v1"' }), undefined);
  assertEquals(validator({ etag: "v1" }), undefined);
  assertEquals(validator({ etag: '"v1"', "accept-ranges": "none" }), undefined);
  assertEquals(validator({}), undefined);
  const date = "Mon, 30 Nov 2026 06:00:00 GMT";
  const modified = (second: number) => `Mon, 30 Nov 2026 05:59:${`${second}`.padStart(2, "0")} GMT`;
  assertEquals(validator({ date, "last-modified": modified(0), etag: 'W/"v1"' }), modified(0));
  assertEquals(validator({ date, "last-modified": "Mon, 30 Nov 2026 05:58:59 GMT" }), "Mon, 30 Nov 2026 05:58:59 GMT");
  assertEquals(validator({ date, "last-modified": modified(1) }), undefined);
  assertEquals(validator({ "last-modified": modified(0) }), undefined);
  assertEquals(validator({ date, "last-modified": "long ago" }), undefined);
  assertEquals(validator({ date, "last-modified": modified(0), "accept-ranges": "none" }), undefined);
});

Deno.test("planBody() takes the rest of an artifact from where it was asked for only", () => {
  const plan = planBody(
    asked({ offsetBytes: 10, validator: '"v1"' }),
    206,
    new Headers({ "content-range": "bytes 10-99/100", "content-length": "90", etag: '"v1"' }),
  );
  assertEquals(plan, { skipBytes: 0, totalBytes: 100, validator: '"v1"' });
  const untold = planBody(
    asked({ offsetBytes: 10, validator: '"v1"' }),
    206,
    new Headers({ "content-range": "bytes 10-99/100" }),
  );
  assertEquals(untold.validator, '"v1"', "the condition of the request holds for its answer");
  const wrong = (headers: Record<string, string>) => refusal({ offsetBytes: 10, validator: '"v1"' }, 206, headers);
  assertEquals(wrong({}), "E_FETCH_RANGE environment");
  assertEquals(wrong({ "content-range": "bytes 0-99/100" }), "E_FETCH_RANGE environment");
  assertEquals(wrong({ "content-range": "bytes 10-99/100", etag: '"v2"' }), "E_FETCH_RANGE environment");
  assertEquals(wrong({ "content-range": `bytes 10-2000/${MAX_BYTES + 1}` }), "E_FETCH_TOO_LARGE policy");
  assertEquals(refusal({ offsetBytes: 10 }, 416), "E_FETCH_RANGE environment");
});

Deno.test("planBody() skips what is there when the server sends the same artifact whole", () => {
  const whole = (etag: string) => new Headers({ "content-length": "100", etag });
  assertEquals(planBody(asked({ offsetBytes: 10, validator: '"v1"' }), 200, whole('"v1"')).skipBytes, 10);
  assertEquals(planBody(asked({ offsetBytes: 10 }), 200, whole('"v2"')).skipBytes, 10);
  const error = assertThrows(
    () => planBody(asked({ offsetBytes: 10, validator: '"v1"' }), 200, whole('"v2"')),
    FleetError,
    "changed",
  );
  assertEquals(error.code, "E_FETCH_RANGE");
  assertEquals(refusal({ offsetBytes: 101 }, 200, { "content-length": "100" }), "E_FETCH_RANGE environment");
});
