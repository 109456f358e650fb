/**
 * Seven ways in which a release can be bad, and how each must end.
 *
 * @module
 */
import { type ExpectedEnd, REFUSED, ROLLED_BACK } from "./expectation.ts";
import type { ReleasePlan } from "./world/demo_world.ts";

/** A bad release for one device. */
export interface BadRelease extends ReleasePlan {
  readonly deviceId: string;
  /** What is wrong with it. */
  readonly what: string;
  readonly end: Omit<ExpectedEnd, "runs">;
}

/** They go before the good release. */
const FIRST_PRIORITY = 10;
/** These go before the ones above. */
const SECOND_PRIORITY = 11;

/** Five that are tried at once, one on each device. */
export const FIRST_BAD_RELEASES: readonly BadRelease[] = [
  {
    name: "never-ready",
    what: "starts and never says READY",
    deviceId: "device-1",
    build: { version: "1.2.1", defect: "never-ready" },
    end: { phases: ROLLED_BACK, reason: "NeverReady", failureClass: "version" },
  },
  {
    name: "exits-0",
    what: "exits 0 before READY",
    deviceId: "device-2",
    build: { version: "1.2.2", defect: "exits-0" },
    end: { phases: ROLLED_BACK, reason: "ExitedBeforeReady", failureClass: "version" },
  },
  {
    name: "exits-1",
    what: "exits 1",
    deviceId: "device-3",
    build: { version: "1.2.3", defect: "exits-1" },
    end: { phases: ROLLED_BACK, reason: "ExitedBeforeReady", failureClass: "version" },
  },
  {
    name: "wrong-version",
    what: "has another version compiled in",
    deviceId: "device-4",
    build: { version: "1.9.9" },
    claims: "1.2.4",
    end: { phases: REFUSED, reason: "VersionMismatch", failureClass: "version" },
  },
  {
    name: "self-test-fails",
    what: "fails its self-test",
    deviceId: "device-5",
    build: { version: "1.2.5", defect: "self-test-fails" },
    end: { phases: REFUSED, reason: "SelfTestFailed", failureClass: "version" },
  },
].map((release) => ({ ...release, priority: FIRST_PRIORITY }) as BadRelease);

/** Two whose document does not fit the artifact, on the devices that are done first. */
export const SECOND_BAD_RELEASES: readonly BadRelease[] = [
  {
    name: "wrong-sha256",
    what: "names another SHA-256",
    deviceId: "device-4",
    build: { version: "1.2.6" },
    sha256: "0".repeat(64),
    priority: SECOND_PRIORITY,
    end: { phases: REFUSED, reason: "DigestMismatch", failureClass: "policy" },
  },
  {
    name: "too-large",
    what: "is one byte larger than it allows",
    deviceId: "device-5",
    build: { version: "1.2.7" },
    maxBytesChange: -1,
    priority: SECOND_PRIORITY,
    end: { phases: REFUSED, reason: "FetchTooLarge", failureClass: "policy" },
  },
];
