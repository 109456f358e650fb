import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { errorText, FAILURE_CLASSES, FleetError, isFleetError } from "./errors.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("FleetError: defaults, and what is given", () => {
  const plain = new FleetError("Cannot read: gone", { code: "E_GONE" });
  assertEquals([plain.retry, plain.failureClass, plain.field, plain.cause], [
    "permanent",
    "internal",
    undefined,
    undefined,
  ]);
  assertEquals(`${plain}`, "FleetError: Cannot read: gone");
  const cause = new Error("below");
  const full = new FleetError("m", { code: "E_X", retry: "fatal", failureClass: "policy", field: "a.b", cause });
  assertEquals([full.code, full.retry, full.failureClass, full.field], ["E_X", "fatal", "policy", "a.b"]);
  assertStrictEquals(full.cause, cause);
  assert(FAILURE_CLASSES.includes(full.failureClass));
});

pure("isFleetError() tells by class and code", () => {
  const error = new FleetError("m", { code: "E_X" });
  assert(isFleetError(error));
  assert(isFleetError(error, "E_X"));
  assert(!isFleetError(error, "E_Y"));
  for (const other of [new Error("E_X"), { code: "E_X" }, "E_X", null, undefined]) assert(!isFleetError(other, "E_X"));
});

pure("errorText() gives one line for anything that can be thrown", () => {
  const cases: [unknown, string][] = [
    [new Error("a\n  b\tc"), "a b c"],
    [new Error("outer", { cause: new Error("inner") }), "outer: inner"],
    [new Error("outer: inner", { cause: new Error("inner") }), "outer: inner"],
    [new Error("outer", { cause: "text" }), "outer"],
    [" text\n", "text"],
    [undefined, "undefined"],
    [null, "null"],
    [7, "7"],
    [Symbol("s"), "Symbol(s)"],
    [{ a: 1 }, "[object Object]"],
    [Object.create(null), "a thrown value without a text"],
    [{
      toString: () => {
        throw new Error("no");
      },
    }, "a thrown value without a text"],
  ];
  for (const [thrown, text] of cases) assertEquals(errorText(thrown), text);
});
