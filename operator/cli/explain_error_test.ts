import { assert, assertEquals } from "@std/assert";
import { FleetError } from "../../contracts/errors.ts";
import { BusConnectError, type ConnectStep } from "../../lib/bus/connect_error.ts";
import type { ConnectionSettings } from "./connection/connection_settings.ts";
import { explainError } from "./explain_error.ts";

const SETTINGS: ConnectionSettings = {
  servers: ["nats://a:4222", "nats://b:4222"],
  serversFrom: "FLEETCTL_SERVERS",
  auth: { kind: "password", user: "ops", password: { file: "/run/secrets/ops" } },
  timeoutMs: 15_000,
};
const explain = (code: string, settings?: ConnectionSettings) =>
  explainError(new FleetError("Cannot do it: why", { code }), settings);

Deno.test("explainError() keeps the message and gives each class its exit code", () => {
  const codes = { E_USAGE: 2, E_CONFIG: 2, E_NOT_FOUND: 3, E_CONFLICT: 4, E_BUS_UNREACHABLE: 5, E_BUS_NO_BUCKET: 5 };
  for (const [code, exitCode] of Object.entries(codes)) assertEquals(explain(code, SETTINGS).exitCode, exitCode, code);
  assertEquals(explain("E_BUS_AUTH", SETTINGS).exitCode, 6);
  assertEquals(explain("E_MANIFEST", SETTINGS).exitCode, 7);
  assertEquals(explain("E_ANYTHING_ELSE", SETTINGS).exitCode, 1);
  assertEquals(explainError(new Error("boom")), { message: "boom", hints: [], exitCode: 1 });
});

Deno.test("explainError() says where it looked and what to do when NATS cannot be reached", () => {
  const hints = (step: ConnectStep, settings = SETTINGS) =>
    explainError(new BusConnectError(step, "x"), settings).hints;
  assertEquals(hints("network"), [
    "tried nats://a:4222, nats://b:4222 (from FLEETCTL_SERVERS), at most 15 s",
    "is nats-server running there, and does a firewall let this machine through?",
  ]);
  assert(hints("tls")[1]?.includes("--ca-file"));
  assert(hints("tls", { ...SETTINGS, caFile: "/ca.pem" })[1]?.includes("an authority of /ca.pem"));
  assert(hints("dns")[1]?.includes("getent hosts"));
  assert(hints("nats")[1]?.includes("the right port"));
  assert(hints("network", { ...SETTINGS, serversFrom: "the default" })[1]?.includes("--server or FLEETCTL_SERVERS"));
  assertEquals(explain("E_BUS_UNREACHABLE", SETTINGS).hints, [
    "the connection was lost on the way: look at what was done with fleetctl get, and go on from there",
  ]);
});

Deno.test("explainError() names the login that was refused, and its file, but no secret", () => {
  assert(
    explain("E_BUS_AUTH", SETTINGS).hints[0]?.startsWith("logged in as ops with the password of /run/secrets/ops"),
  );
  const none = explain("E_BUS_AUTH", { ...SETTINGS, auth: { kind: "none" } });
  assert(none.hints[0]?.startsWith("logged in without a user"));
  const value = explain("E_BUS_AUTH", { ...SETTINGS, auth: { kind: "token", token: { value: "s3cret" } } });
  assert(!JSON.stringify(value).includes("s3cret"));
});
