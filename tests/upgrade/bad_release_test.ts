import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { AgentUpgradeStatus } from "../../contracts/agent_upgrade.ts";
import { isTerminalPhase } from "../../contracts/agent_upgrade.ts";
import type { AgentBuild } from "../fleet/agent_builds.ts";
import { FAST_UPDATER, Fleet } from "../fleet/fleet.ts";

/** A candidate that never says READY is given up after this. */
const UPDATER_BOUNDS = { ...FAST_UPDATER, startTimeoutMs: 4_000 };

interface BadRelease {
  readonly name: string;
  readonly build: AgentBuild;
  /** Version that the attempt claims. Default the build's */
  readonly claims?: string;
  readonly sha256?: string;
  /** Bytes that the attempt allows beside those that the artifact has. */
  readonly maxBytesChange?: number;
  readonly reason: string;
  readonly failureClass: "version" | "environment" | "policy";
  readonly phases: readonly string[];
}

const BEFORE_SWITCH = ["preparing", "failed"];
const ROLLED_BACK = ["preparing", "stopping", "starting", "rolling-back", "failed"];

const BAD_RELEASES: readonly BadRelease[] = [
  {
    name: "never ready",
    build: { version: "2.0.1", defect: "never-ready" },
    reason: "NeverReady",
    failureClass: "version",
    phases: ROLLED_BACK,
  },
  {
    name: "exits 0 before READY",
    build: { version: "2.0.2", defect: "exits-0" },
    reason: "ExitedBeforeReady",
    failureClass: "version",
    phases: ROLLED_BACK,
  },
  {
    name: "exits 1",
    build: { version: "2.0.3", defect: "exits-1" },
    reason: "ExitedBeforeReady",
    failureClass: "version",
    phases: ROLLED_BACK,
  },
  {
    name: "exits 75",
    build: { version: "2.0.4", defect: "exits-75" },
    reason: "EnvironmentUnavailable",
    failureClass: "environment",
    phases: ROLLED_BACK,
  },
  {
    name: "wrong version compiled in",
    build: { version: "2.0.5" },
    claims: "2.0.6",
    reason: "VersionMismatch",
    failureClass: "version",
    phases: BEFORE_SWITCH,
  },
  {
    name: "self-test fails",
    build: { version: "2.0.7", defect: "self-test-fails" },
    reason: "SelfTestFailed",
    failureClass: "version",
    phases: BEFORE_SWITCH,
  },
  {
    name: "wrong SHA-256",
    build: { version: "2.0.8" },
    sha256: "0".repeat(64),
    reason: "DigestMismatch",
    failureClass: "policy",
    phases: BEFORE_SWITCH,
  },
  {
    name: "one byte too large",
    build: { version: "2.0.9" },
    maxBytesChange: -1,
    reason: "FetchTooLarge",
    failureClass: "policy",
    phases: BEFORE_SWITCH,
  },
];

async function tryRelease(fleet: Fleet, release: BadRelease): Promise<AgentUpgradeStatus> {
  const artifact = await fleet.publish(release.build);
  const attempt = fleet.attempt("device-1", release.claims ?? release.build.version, {
    ...artifact,
    sha256: release.sha256 ?? artifact.sha256,
    sizeBytes: artifact.sizeBytes + (release.maxBytesChange ?? 0),
  });
  await fleet.send(attempt);
  return await fleet.waitForStatus(
    "device-1",
    `${release.name}: an end`,
    ({ attemptId, phase }) => attemptId === attempt.attemptId && isTerminalPhase(phase),
  );
}

Deno.test("every bad release leaves the previous agent running, says why, and the next good one works", async () => {
  await using fleet = await Fleet.start({ deviceIds: ["device-1"], updaterBounds: UPDATER_BOUNDS });
  const device = fleet.device("device-1");
  await fleet.ready();
  for (const release of BAD_RELEASES) {
    const before = await device.agentPid();
    const status = await tryRelease(fleet, release);
    const found = { phase: status.phase, reason: status.reason, failureClass: status.failureClass };
    const { reason, failureClass } = release;
    assertEquals(found, { phase: "failed", reason, failureClass }, `${release.name}: ${status.error}`);
    assertEquals(status.transitions.map(({ phase }) => phase), release.phases, release.name);
    assertEquals(await device.selectedVersion(), "1.0.0", release.name);
    const after = await device.agentPid();
    assert(after !== null, `${release.name}: no agent runs`);
    // What failed before the switch never touched the running agent.
    assertEquals(after === before, release.phases === BEFORE_SWITCH, release.name);
    if (release.build.defect === "exits-1") {
      assertStringIncludes(status.postMortem?.lastLines?.join("\n") ?? "", "broken on purpose");
      assertEquals(status.postMortem?.exitCode, 1);
    }
  }
  const good = await fleet.publish({ version: "2.1.0" });
  await fleet.send(fleet.attempt("device-1", "2.1.0", good));
  await fleet.waitForStatus("device-1", "complete", ({ phase }) => phase === "complete");
  assertEquals(await device.selectedVersion(), "2.1.0");
});
