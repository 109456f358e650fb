import { assertEquals } from "@std/assert";
import { FleetError } from "../contracts/errors.ts";
import { exitCodeOf, StopRequest } from "./program.ts";

for (
  const [error, code] of [
    [new FleetError("x", { code: "E_USAGE" }), 64],
    [new FleetError("x", { code: "E_CONFIG" }), 78],
    [new FleetError("x", { code: "E_CONFIG_READ", failureClass: "environment" }), 78],
    [new FleetError("x", { code: "E_BUS_UNREACHABLE", failureClass: "environment" }), 75],
    [new FleetError("x", { code: "E_FSYNC", retry: "fatal", failureClass: "environment" }), 75],
    [new FleetError("x", { code: "E_OTHER" }), 1],
    [new FleetError("x", { code: "E_OTHER", failureClass: "policy" }), 1],
    [new StopRequest("SIGINT"), 130],
    [new StopRequest("SIGTERM"), 143],
    [new StopRequest("SIGHUP"), 129],
    [new TypeError("x"), 70],
    ["text", 70],
  ] as const
) {
  const name = error instanceof FleetError ? `${error.code} of class ${error.failureClass}` : typeof error;
  Deno.test(`${name} ends a program with ${code}`, () => assertEquals(exitCodeOf(error), code));
}
