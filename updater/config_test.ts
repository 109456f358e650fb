import { assertEquals } from "@std/assert";
import { decodeProblems } from "../contracts/decode_problems.ts";
import * as limits from "../contracts/limits.ts";
import { updaterConfig } from "./config.ts";

const MINIMAL = { deviceId: "device-1", services: { kind: "process" } };
const problems = (value: unknown) => decodeProblems(updaterConfig, value).map(({ message }) => message);

/** Every bound with the limit that it must not pass. */
const BOUNDS = {
  connectTimeoutMs: limits.HTTPS_CONNECT_TIMEOUT_MS,
  requestTimeoutMs: limits.HTTPS_REQUEST_TIMEOUT_MS,
  probeTimeoutMs: limits.PROBE_TIMEOUT_MS,
  stopTimeoutMs: limits.SERVICE_STOP_TIMEOUT_MS,
  startTimeoutMs: limits.SERVICE_START_TIMEOUT_MS,
  restartDelayMs: limits.SERVICE_RESTART_DELAY_MS,
  rollbackRetryMinMs: limits.ROLLBACK_RETRY_MIN_MS,
  rollbackRetryMaxMs: limits.ROLLBACK_RETRY_MAX_MS,
  socketReadTimeoutMs: limits.SOCKET_READ_TIMEOUT_MS,
};

Deno.test("updaterConfig takes a device and its service manager, and needs no more", () => {
  assertEquals(problems(MINIMAL), []);
  assertEquals(problems({ ...MINIMAL, services: { kind: "systemd" }, bounds: BOUNDS }), []);
});

Deno.test("updaterConfig names every error at once", () => {
  const value = {
    deviceId: "Device_1",
    services: { kind: "sysv" },
    agentUser: "Fleet Agent",
    tls: { caFile: "relative.pem" },
    bounds: { stopTimeoutMs: 60_001 },
  };
  assertEquals(problems(value), [
    "deviceId: is not a device id (lower-case letters, digits and inner hyphens)",
    'services.kind: is "sysv", must be one of systemd, process',
    "agentUser: is not a user or group name",
    "tls.caFile: is not an absolute path",
    "bounds.stopTimeoutMs: is 60001, must be from 1 to 60000",
  ]);
});

for (const extra of [-1, 0, 1]) {
  Deno.test(`updaterConfig with account names of ${limits.ACCOUNT_NAME_MAX_CHARS + extra} characters`, () => {
    const name = "u".repeat(limits.ACCOUNT_NAME_MAX_CHARS + extra);
    assertEquals(problems({ ...MINIMAL, agentUser: name, socketGroup: name }).length, extra > 0 ? 2 : 0);
  });
}

for (const [name, limitMs] of Object.entries(BOUNDS)) {
  Deno.test(`updaterConfig lets bounds.${name} be lowered to 1 and never raised above ${limitMs}`, () => {
    const read = (value: number) => problems({ ...MINIMAL, bounds: { [name]: value } });
    for (const value of [1, limitMs - 1, limitMs]) assertEquals(read(value), []);
    for (const value of [0, limitMs + 1]) {
      assertEquals(read(value), [`bounds.${name}: is ${value}, must be from 1 to ${limitMs}`]);
    }
  });
}
