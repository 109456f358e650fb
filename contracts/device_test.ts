import { assertRejected, assertStrictDecoder } from "../tests/assert/strict_decoder.ts";
import { beat, info } from "../tests/golden/fleet_documents.ts";
import { deviceInfo, heartbeat } from "./device.ts";
import { CAPABILITIES_MAX, MOUNT_PATH_MAX_CHARS, MOUNTS_MAX, SHORT_TEXT_MAX_CHARS } from "./limits.ts";
import { READINESS_STEPS } from "./readiness.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("device info: strict in every field", () => assertStrictDecoder(deviceInfo, info));

pure("heartbeat: strict in every field", () => assertStrictDecoder(heartbeat, beat));

pure("device info: every step, every form, and no other", () => {
  for (const step of READINESS_STEPS) deviceInfo({ ...info, step }, "");
  assertRejected(deviceInfo, { ...info, step: "done" }, "step");
  for (const form of ["compiled", "script", "source"]) deviceInfo({ ...info, form }, "");
  assertRejected(deviceInfo, { ...info, form: "container" }, "form");
});

pure("device info: capabilities and short texts at their limits", () => {
  const capable = (count: number) => ({ ...info, updater: { ...info.updater, capabilities: Array(count).fill("c") } });
  for (const count of [0, CAPABILITIES_MAX - 1, CAPABILITIES_MAX]) deviceInfo(capable(count), "");
  assertRejected(deviceInfo, capable(CAPABILITIES_MAX + 1), "updater.capabilities");
  const kernel = (chars: number) => ({ ...info, os: { ...info.os, kernel: "k".repeat(chars) } });
  for (const chars of [0, SHORT_TEXT_MAX_CHARS - 1, SHORT_TEXT_MAX_CHARS]) deviceInfo(kernel(chars), "");
  assertRejected(deviceInfo, kernel(SHORT_TEXT_MAX_CHARS + 1), "os.kernel");
});

pure("heartbeat: mount points at their limits", () => {
  const mounts = (count: number) => {
    const freeBytes = Object.fromEntries(Array.from({ length: count }, (_, index) => [`/m${index}`, 1]));
    return { ...beat, vitals: { ...beat.vitals, freeBytes } };
  };
  for (const count of [0, MOUNTS_MAX - 1, MOUNTS_MAX]) heartbeat(mounts(count), "");
  assertRejected(heartbeat, mounts(MOUNTS_MAX + 1), "vitals.freeBytes");
  const mount = (path: string) => ({ ...beat, vitals: { freeBytes: { [path]: 1 } } });
  for (const chars of [MOUNT_PATH_MAX_CHARS - 1, MOUNT_PATH_MAX_CHARS]) heartbeat(mount("/".padEnd(chars, "m")), "");
  const long = "/".padEnd(MOUNT_PATH_MAX_CHARS + 1, "m");
  assertRejected(heartbeat, mount(long), `vitals.freeBytes.${long.slice(0, 64)}`);
  assertRejected(heartbeat, mount("usr"), "vitals.freeBytes.usr");
  assertRejected(heartbeat, mount("/a b"), 'vitals.freeBytes."/a b"');
});

pure("heartbeat: numbers at their limits", () => {
  for (const sequence of [1, Number.MAX_SAFE_INTEGER]) heartbeat({ ...beat, sequence }, "");
  for (const sequence of [0, Number.MAX_SAFE_INTEGER + 1]) assertRejected(heartbeat, { ...beat, sequence }, "sequence");
  const skew = (clockSkewMs: number) => ({ ...beat, vitals: { ...beat.vitals, clockSkewMs } });
  for (const value of [Number.MIN_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER]) heartbeat(skew(value), "");
  for (const value of [Number.MIN_SAFE_INTEGER - 1, 0.5]) assertRejected(heartbeat, skew(value), "vitals.clockSkewMs");
});
