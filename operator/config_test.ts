import { assertEquals } from "@std/assert";
import { decodeProblems } from "../contracts/decode_problems.ts";
import { FLEET_SIZE_DEFAULT, FLEET_SIZE_MAX } from "../contracts/limits.ts";
import { DEFAULT_BOUNDS, operatorConfig } from "./config.ts";

const MINIMAL = { nats: { servers: ["nats://127.0.0.1:4222"] } };
const problems = (value: unknown) => decodeProblems(operatorConfig, value).map(({ message }) => message);

Deno.test("a minimal configuration has the product's defaults", () => {
  assertEquals(operatorConfig(MINIMAL, ""), {
    nats: { servers: ["nats://127.0.0.1:4222"] },
    fleetSize: FLEET_SIZE_DEFAULT,
    replicas: 1,
    groups: { source: "device-spec" },
    logLevel: "info",
    bounds: DEFAULT_BOUNDS,
  });
});

Deno.test("every problem is named at once, typos included", () => {
  const found = problems({ nats: {}, fleetSize: "many", replicas: 2, bounds: { lostAfterMs: 0 }, fleetsize: 3 });
  assertEquals(found, [
    "nats.servers: is missing",
    "fleetSize: must be an integer, not a string",
    "replicas: is 2, must be one of 1, 3, 5",
    `bounds.lostAfterMs: is 0, must be from 1 to ${DEFAULT_BOUNDS.lostAfterMs}`,
    "fleetsize: is not known here, known are nats, fleetSize, replicas, groups, logLevel, bounds",
  ]);
});

Deno.test("groups come from the device's resource or from the bucket", () => {
  for (const source of ["device-spec", "bucket"]) {
    assertEquals(operatorConfig({ ...MINIMAL, groups: { source } }, "").groups.source, source);
  }
  assertEquals(problems({ ...MINIMAL, groups: { source: "ldap" } }), [
    'groups.source: is "ldap", must be one of device-spec, bucket',
  ]);
  assertEquals(problems({ ...MINIMAL, groups: {} }), ["groups.source: is missing"]);
});

for (const [name, limit] of Object.entries(DEFAULT_BOUNDS)) {
  Deno.test(`bounds.${name} may be lowered and not raised`, () => {
    for (const value of [1, limit - 1, limit]) assertEquals(problems({ ...MINIMAL, bounds: { [name]: value } }), []);
    for (const value of [0, limit + 1]) assertEquals(problems({ ...MINIMAL, bounds: { [name]: value } }).length, 1);
  });
}

for (const size of [0, 1, FLEET_SIZE_MAX - 1, FLEET_SIZE_MAX, FLEET_SIZE_MAX + 1]) {
  Deno.test(`a fleet of ${size} devices`, () => {
    const allowed = size >= 1 && size <= FLEET_SIZE_MAX;
    assertEquals(problems({ ...MINIMAL, fleetSize: size }).length, allowed ? 0 : 1);
  });
}
