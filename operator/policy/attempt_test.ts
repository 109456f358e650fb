import { assert, assertEquals } from "@std/assert";
import type { ReleaseArtifact } from "../../contracts/agent_release.ts";
import { UPGRADE_PHASES } from "../../contracts/agent_upgrade.ts";
import { DEVICE_INFO_SETTLE_MS } from "../../contracts/limits.ts";
import { releaseIdentity } from "../../contracts/release_identity.ts";
import { type AttemptFacts, decideAttempt, type IntentFacts, type UpgradeFacts } from "./attempt.ts";
import { ARTIFACT, digest, release } from "../../tests/fakes/operator_samples.ts";

const NOW = 1_000_000;
const A1 = "00000000-0000-4000-8000-000000000001";
const A2 = "00000000-0000-4000-8000-000000000002";
const IDENTITY = releaseIdentity({ version: "1.1.0", revision: 1, artifact: ARTIFACT });
const OTHER_IDENTITY = digest("f");

const INFO = {
  agentVersion: "1.0.0",
  arch: "x86_64",
  form: "script",
  updater: { version: "1.0.0", capabilities: ["https"] },
  receivedAtMs: 1_000,
} as const;

function facts(changes: Partial<AttemptFacts> = {}): AttemptFacts {
  return {
    deviceId: "d1",
    nowMs: NOW,
    info: INFO,
    intent: null,
    upgrade: null,
    failedIdentities: [],
    quarantined: false,
    desired: { kind: "release", release: release({ name: "r" }) },
    ...changes,
  };
}

function intent(changes: Partial<NonNullable<IntentFacts["attempt"]>> = {}): IntentFacts {
  const attempt = {
    attemptId: A1,
    targetVersion: "1.1.0",
    artifactSha256: ARTIFACT.sha256,
    releaseIdentity: IDENTITY,
    ...changes,
  };
  return { revision: 5, attempt };
}

const OTHER_INTENT = intent({ targetVersion: "1.2.0", artifactSha256: digest("b"), releaseIdentity: OTHER_IDENTITY });

function upgrade(phase: UpgradeFacts["phase"], changes: Partial<UpgradeFacts> = {}): UpgradeFacts {
  return {
    attemptId: A1,
    targetVersion: "1.1.0",
    releaseIdentity: IDENTITY,
    phase,
    rolledBack: false,
    receivedAtMs: 2_000,
    ...changes,
  };
}

const OTHER_UPGRADE = { targetVersion: "1.2.0", releaseIdentity: OTHER_IDENTITY };
const AT_TARGET = { ...INFO, agentVersion: "1.1.0", receivedAtMs: 1_900 };

/** What is decided, as text: the reason, and `write` or `withdraw` when the intent is to change. */
function decided(changes: Partial<AttemptFacts> = {}): string {
  const { reason, write, withdraw } = decideAttempt(facts(changes));
  assert(write === null || !withdraw);
  return `${reason}${write === null ? "" : " write"}${withdraw ? " withdraw" : ""}`;
}

Deno.test("a device at another version gets an attempt with everything that the release says", () => {
  assertEquals(decideAttempt(facts()), {
    reason: "Pending",
    write: {
      deviceId: "d1",
      targetVersion: "1.1.0",
      arch: "x86_64",
      artifact: { url: ARTIFACT.url, maxBytes: ARTIFACT.maxBytes, sha256: ARTIFACT.sha256 },
      releaseIdentity: IDENTITY,
    },
    withdraw: false,
    recheckAtMs: null,
  });
});

const OCI: ReleaseArtifact = { ...ARTIFACT, url: "oci://registry.example/fleet-agent:v1.1.0" };
const withSpec = (changes: Partial<Parameters<typeof release>[0]>): AttemptFacts["desired"] => ({
  kind: "release",
  release: release({ name: "r", ...changes }),
});
const { updater: _updater, ...WITHOUT_UPDATER } = INFO;

const CASES: readonly [name: string, facts: Partial<AttemptFacts>, expected: string][] = [
  ["no release", { desired: { kind: "none", reason: "NoRelease" } }, "NoRelease"],
  ["no group", { desired: { kind: "none", reason: "NoGroups" } }, "NoGroups"],
  ["a tie", { desired: { kind: "tie", names: ["a", "b"], priority: 0 } }, "Conflict"],
  ["quarantined", { quarantined: true }, "Quarantined"],
  ["quarantined at the desired version", { quarantined: true, info: AT_TARGET }, "Quarantined"],
  ["nothing known", { info: null }, "NoDeviceInfo"],
  ["up to date", { info: AT_TARGET }, "UpToDate"],
  ["up to date, and no artifact for it", { info: { ...AT_TARGET, arch: "aarch64" } }, "UpToDate"],
  // Gates.
  ["from a work tree", { info: { ...INFO, form: "source" } }, "SourceForm"],
  ["another architecture", { info: { ...INFO, arch: "aarch64" } }, "NoArtifact"],
  ["another form", { info: { ...INFO, form: "compiled" } }, "NoArtifact"],
  ["no updater", { info: WITHOUT_UPDATER }, "UpdaterUnavailable"],
  ["an updater without https", { info: { ...INFO, updater: { version: "1.0.0", capabilities: [] } } }, "UpdaterTooOld"],
  ["an updater without oci", { desired: withSpec({ artifacts: [OCI] }) }, "UpdaterTooOld"],
  [
    "an updater with oci",
    {
      desired: withSpec({ artifacts: [OCI] }),
      info: { ...INFO, updater: { version: "1.0.0", capabilities: ["oci"] } },
    },
    "Pending write",
  ],
  ["paused", { desired: withSpec({ paused: true }) }, "Paused"],
  ["paused and not eligible", { desired: withSpec({ paused: true }), info: WITHOUT_UPDATER }, "UpdaterUnavailable"],
  ["paused and up to date", { desired: withSpec({ paused: true }), info: AT_TARGET }, "UpToDate"],
  // The attempt of the desired release.
  ["written, not taken", { intent: intent() }, "Pending"],
  ["written, not taken, paused", { intent: intent(), desired: withSpec({ paused: true }) }, "Paused withdraw"],
  [
    "taken, paused",
    { intent: intent(), upgrade: upgrade("preparing"), desired: withSpec({ paused: true }) },
    "Upgrading",
  ],
  ["written, not taken, and there by other means", { intent: intent(), info: AT_TARGET }, "UpToDate"],
  [
    "written, not taken, there, and another one runs",
    { intent: intent(), info: AT_TARGET, upgrade: upgrade("preparing", { attemptId: A2, ...OTHER_UPGRADE }) },
    "Pending",
  ],
  ["taken", { intent: intent(), upgrade: upgrade("preparing") }, "Upgrading"],
  [
    "starting, and the version is reported",
    { intent: intent(), upgrade: upgrade("starting"), info: AT_TARGET },
    "Upgrading",
  ],
  ["complete", { intent: intent(), upgrade: upgrade("complete"), info: AT_TARGET }, "UpToDate"],
  ["failed", { intent: intent(), upgrade: upgrade("failed") }, "Failed"],
  ["rolled back", { intent: intent(), upgrade: upgrade("failed", { rolledBack: true }) }, "RolledBack"],
  ["failed, and there by hand", { intent: intent(), upgrade: upgrade("failed"), info: AT_TARGET }, "UpToDate"],
  ["runs, and its intent is gone", { upgrade: upgrade("stopping") }, "Upgrading"],
  ["failed, and its intent is gone", { upgrade: upgrade("failed") }, "Failed"],
  // Failed identities.
  ["failed before", { failedIdentities: [OTHER_IDENTITY, IDENTITY] }, "Failed"],
  ["another identity failed before", { failedIdentities: [OTHER_IDENTITY] }, "Pending write"],
  [
    "failed before, now of a higher revision",
    { failedIdentities: [IDENTITY], desired: withSpec({ revision: 2 }) },
    "Pending write",
  ],
  [
    "failed just now, and the selector changed",
    {
      intent: intent(),
      upgrade: upgrade("failed"),
      desired: withSpec({ targetSelector: { matchLabels: { site: "x" } }, priority: 9 }),
    },
    "Failed",
  ],
  [
    "failed before, and written again by hand",
    { failedIdentities: [IDENTITY], intent: intent({ attemptId: A2 }) },
    "Pending",
  ],
  ["failed before, and runs again by hand", {
    failedIdentities: [IDENTITY],
    intent: intent({ attemptId: A2 }),
    upgrade: upgrade("preparing", { attemptId: A2 }),
  }, "Upgrading"],
  // Another release was there before.
  ["another one complete", { intent: OTHER_INTENT, upgrade: upgrade("complete", OTHER_UPGRADE) }, "Pending write"],
  ["another one failed", { intent: OTHER_INTENT, upgrade: upgrade("failed", OTHER_UPGRADE) }, "Pending write"],
  [
    "another one runs: the newest wins",
    { intent: OTHER_INTENT, upgrade: upgrade("starting", OTHER_UPGRADE) },
    "Pending write",
  ],
  ["another one waits: the newest wins", { intent: OTHER_INTENT }, "Pending write"],
  ["taken back before the device took it", { intent: OTHER_INTENT, info: AT_TARGET }, "Pending write"],
  [
    "taken back while the device works on it",
    { intent: OTHER_INTENT, info: AT_TARGET, upgrade: upgrade("preparing", OTHER_UPGRADE) },
    "Pending write",
  ],
  [
    "taken back after the device refused it",
    { intent: OTHER_INTENT, info: AT_TARGET, upgrade: upgrade("failed", OTHER_UPGRADE) },
    "UpToDate",
  ],
  ["taken back, and paused", { intent: OTHER_INTENT, desired: withSpec({ paused: true }) }, "Paused withdraw"],
  [
    "taken back, paused, and under way",
    { intent: OTHER_INTENT, upgrade: upgrade("preparing", OTHER_UPGRADE), desired: withSpec({ paused: true }) },
    "Paused",
  ],
  [
    "taken back for one without an artifact",
    { intent: OTHER_INTENT, info: { ...INFO, arch: "aarch64" } },
    "NoArtifact withdraw",
  ],
  ["taken back for one that failed before", { intent: OTHER_INTENT, failedIdentities: [IDENTITY] }, "Failed withdraw"],
  [
    "no release, and an attempt waits",
    { intent: intent(), desired: { kind: "none", reason: "NoRelease" } },
    "NoRelease withdraw",
  ],
  [
    "no group, and an attempt waits",
    { intent: intent(), desired: { kind: "none", reason: "NoGroups" } },
    "NoGroups withdraw",
  ],
  [
    "no release, and an attempt runs",
    { intent: intent(), upgrade: upgrade("starting"), desired: { kind: "none", reason: "NoRelease" } },
    "NoRelease",
  ],
  [
    "a tie, and an attempt waits",
    { intent: intent(), desired: { kind: "tie", names: ["a", "b"], priority: 0 } },
    "Conflict",
  ],
  [
    "an unreadable release, and an attempt waits",
    { intent: intent(), desired: { kind: "unreadable", name: "r" } },
    "ReleaseUnreadable",
  ],
  ["runs, without an intent, for another release", { upgrade: upgrade("preparing", OTHER_UPGRADE) }, "Pending write"],
  // Reflashed.
  [
    "complete, then another version",
    { intent: intent(), upgrade: upgrade("complete"), info: { ...INFO, receivedAtMs: 2_001 } },
    "Pending write",
  ],
  [
    "complete, then another version within the same ms",
    {
      intent: intent(),
      upgrade: upgrade("complete", { receivedAtMs: NOW - 1 }),
      info: { ...INFO, receivedAtMs: NOW - 1 },
    },
    "Pending write",
  ],
  [
    "complete, and the new info on its way",
    { intent: intent(), upgrade: upgrade("complete", { receivedAtMs: NOW - 1 }) },
    "Upgrading",
  ],
  [
    "complete under an older revision, and the new info on its way",
    {
      intent: intent({ releaseIdentity: OTHER_IDENTITY }),
      upgrade: upgrade("complete", { releaseIdentity: OTHER_IDENTITY, receivedAtMs: NOW - 1 }),
    },
    "Upgrading",
  ],
  // Intents that a person wrote, or nobody can read.
  ["an unreadable intent, and an update is due", { intent: { revision: 5, attempt: null } }, "Pending write"],
  ["an unreadable intent, and nothing is due", { intent: { revision: 5, attempt: null }, info: AT_TARGET }, "UpToDate"],
];

function withoutIdentity({ revision, attempt }: IntentFacts): IntentFacts {
  if (attempt === null) return { revision, attempt };
  const { releaseIdentity: _identity, ...rest } = attempt;
  return { revision, attempt: rest };
}

const BY_HAND: readonly [name: string, facts: Partial<AttemptFacts>, expected: string][] = [
  ["the same bytes by hand", { intent: withoutIdentity(intent()) }, "Pending"],
  ["other bytes by hand", { intent: withoutIdentity(intent({ artifactSha256: digest("c") })) }, "Pending write"],
  [
    "by hand, and no release",
    { intent: withoutIdentity(intent()), desired: { kind: "none", reason: "NoRelease" } },
    "NoRelease",
  ],
  [
    "the same bytes by hand, and paused",
    { intent: withoutIdentity(intent()), desired: withSpec({ paused: true }) },
    "Pending",
  ],
  ["the same bytes by hand, failed", { intent: withoutIdentity(intent()), upgrade: upgrade("failed") }, "Failed"],
];

for (const [name, changes, expected] of [...CASES, ...BY_HAND]) {
  Deno.test(`decides: ${name}`, () => assertEquals(decided(changes), expected));
}

for (const [ageMs, expected] of [[-1, "Upgrading"], [0, "Pending write"], [1, "Pending write"]] as const) {
  Deno.test(`a device info older than complete is believed after its time (${ageMs} ms past it)`, () => {
    const receivedAtMs = NOW - DEVICE_INFO_SETTLE_MS - ageMs;
    const state = { intent: intent(), upgrade: upgrade("complete", { receivedAtMs }) };
    assertEquals(decided(state), expected);
    const { recheckAtMs } = decideAttempt(facts(state));
    assertEquals(recheckAtMs, ageMs < 0 ? receivedAtMs + DEVICE_INFO_SETTLE_MS : null);
  });
}

Deno.test("a decision to write is reached once: with its own attempt in place, nothing more is written", () => {
  const first = decideAttempt(facts());
  assert(first.write !== null);
  const written: IntentFacts = {
    revision: 6,
    attempt: {
      attemptId: A2,
      targetVersion: first.write.targetVersion,
      artifactSha256: first.write.artifact.sha256,
      releaseIdentity: first.write.releaseIdentity,
    },
  };
  for (const phase of UPGRADE_PHASES) {
    const status = { intent: written, upgrade: upgrade(phase, { attemptId: A2, receivedAtMs: NOW }) };
    assertEquals(decideAttempt(facts(status)).write, null, phase);
  }
});
