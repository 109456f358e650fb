import { assertRejected, assertStrictDecoder } from "../tests/assert/strict_decoder.ts";
import { device } from "../tests/golden/fleet_documents.ts";
import { DEVICE_ID_LABEL, deviceSpec, deviceStatus, LIVENESS } from "./device_resource.ts";
import { CAPABILITIES_MAX, CONDITIONS_MAX, FAILED_IDENTITIES_MAX, RESOURCE_NAME_MAX_CHARS } from "./limits.ts";
import { assertEquals } from "@std/assert";

const { status } = device;

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("device spec and status: strict in every field", () => {
  assertStrictDecoder(deviceSpec, device.spec);
  assertStrictDecoder(deviceStatus, { ...status, tiedReleases: ["a", "b"] });
});

pure("device: the id label is what releases select by", () => assertEquals(DEVICE_ID_LABEL, "device-id"));

pure("device status: liveness is one of four", () => {
  for (const liveness of LIVENESS) deviceStatus({ ...status, liveness }, "");
  assertRejected(deviceStatus, { ...status, liveness: "Offline" }, "liveness");
});

pure("device status: lists at their limits", () => {
  const of = (field: string, count: number, item: unknown) => ({ ...status, [field]: Array(count).fill(item) });
  const lists: [string, number, unknown][] = [
    ["failedIdentities", FAILED_IDENTITIES_MAX, "ab".repeat(32)],
    ["capabilities", CAPABILITIES_MAX, "https"],
    ["conditions", CONDITIONS_MAX, status.conditions[0]],
  ];
  for (const [field, limit, item] of lists) {
    for (const count of [0, limit - 1, limit]) deviceStatus(of(field, count, item), "");
    assertRejected(deviceStatus, of(field, limit + 1, item), field);
  }
});

pure("device status: takes a release with the longest name", () => {
  const named = (chars: number) => ({ ...status, desiredRelease: "r".repeat(chars) });
  for (const chars of [1, RESOURCE_NAME_MAX_CHARS]) deviceStatus(named(chars), "");
  assertRejected(deviceStatus, named(RESOURCE_NAME_MAX_CHARS + 1), "desiredRelease");
});
