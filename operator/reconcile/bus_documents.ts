/**
 * What the operator keeps of the documents in the device buckets: the members that decisions look at, and the broker's
 * receive time. A document that cannot be read is kept as its problem.
 *
 * @module
 */
import { agentUpgradeAttempt, type AgentUpgradeStatus, agentUpgradeStatus } from "../../contracts/agent_upgrade.ts";
import { type BucketName, BUCKETS, documentMaxBytes } from "../../contracts/buckets.ts";
import { decodeBytes, decodeError, type Decoder } from "../../contracts/codec.ts";
import { deviceInfo, heartbeat } from "../../contracts/device.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { bounded } from "../../contracts/formats.ts";
import { DOCUMENT_PROBLEM_MAX_CHARS } from "../../contracts/limits.ts";
import type { BusEntry } from "../../lib/bus/port.ts";
import type { IntentFacts } from "../policy/attempt.ts";
import type { HeartbeatReport, InfoReport, UpgradeStatusReport } from "../policy/device_plan.ts";
import type { Interner } from "./interner.ts";

/** Buckets with one document per device, and what is kept of each. */
export interface DocumentOf {
  readonly [BUCKETS.deviceInfo]: InfoReport;
  readonly [BUCKETS.deviceHeartbeat]: Omit<HeartbeatReport, "receivedAtMs">;
  readonly [BUCKETS.upgradeIntent]: NonNullable<IntentFacts["attempt"]>;
  readonly [BUCKETS.upgradeStatus]: UpgradeStatusReport;
}
/** A bucket with one document per device. */
export type DeviceBucket = keyof DocumentOf;
/** All of them. */
export const DEVICE_BUCKETS: readonly DeviceBucket[] = [
  BUCKETS.deviceInfo,
  BUCKETS.deviceHeartbeat,
  BUCKETS.upgradeIntent,
  BUCKETS.upgradeStatus,
];

/** A document as it is kept. */
export interface HeldDocument<B extends DeviceBucket> {
  readonly revision: number;
  /** Receipt at the broker, in ms. */
  readonly receivedAtMs: number;
  /** Null when it cannot be read. */
  readonly value: DocumentOf[B] | null;
  /** Why it cannot be read. */
  readonly problem?: string;
}

type Reader<B extends DeviceBucket> = (entry: BusEntry, deviceId: string, interner: Interner) => DocumentOf[B];

/**
 * Reads a document.
 *
 * @param bucket The bucket
 * @param entry What stands in it
 * @param interner Shares equal texts
 */
export function holdDocument<B extends DeviceBucket>(bucket: B, entry: BusEntry, interner: Interner): HeldDocument<B> {
  const { revision, receivedAtMs, key } = entry;
  try {
    const read: Reader<B> = READERS[bucket];
    return { revision, receivedAtMs, value: read(entry, key, interner) };
  } catch (error) {
    if (!isFleetError(error, "E_DECODE")) throw error;
    return { revision, receivedAtMs, value: null, problem: bounded(error.message, DOCUMENT_PROBLEM_MAX_CHARS) };
  }
}

function decode<T extends { readonly deviceId: string }>(
  bucket: BucketName,
  decoder: Decoder<T>,
  entry: BusEntry,
  deviceId: string,
): T {
  const document = decodeBytes(decoder, entry.value, documentMaxBytes(bucket));
  if (document.deviceId !== deviceId) throw decodeError("deviceId", "is not the device of the key");
  return document;
}

const NOTHING_SAID: DocumentOf[typeof BUCKETS.deviceHeartbeat] = Object.freeze({});

const READERS: { readonly [B in DeviceBucket]: Reader<B> } = {
  [BUCKETS.deviceInfo]: (entry, id, interner) => {
    const info = decode(BUCKETS.deviceInfo, deviceInfo, entry, id);
    const { arch, form, os, updater, step, blocked } = info;
    return {
      agentVersion: interner.text(info.agentVersion),
      arch,
      form,
      os: interner.shared(JSON.stringify(os), os),
      ...(updater === undefined ? {} : { updater: interner.shared(JSON.stringify(updater), updater) }),
      step,
      ...(blocked === undefined ? {} : { blocked }),
      receivedAtMs: entry.receivedAtMs,
    };
  },
  [BUCKETS.deviceHeartbeat]: (entry, id) => {
    const { blocked, deferred } = decode(BUCKETS.deviceHeartbeat, heartbeat, entry, id);
    if (blocked === undefined && deferred === undefined) return NOTHING_SAID;
    return {
      ...(blocked === undefined ? {} : { blocked }),
      ...(deferred === undefined ? {} : { deferred: { attemptId: deferred.attemptId, reason: deferred.reason } }),
    };
  },
  [BUCKETS.upgradeIntent]: (entry, id, interner) => {
    const attempt = decode(BUCKETS.upgradeIntent, agentUpgradeAttempt, entry, id);
    return {
      attemptId: attempt.attemptId,
      targetVersion: interner.text(attempt.targetVersion),
      artifactSha256: interner.text(attempt.artifact.sha256),
      ...(attempt.releaseIdentity === undefined ? {} : { releaseIdentity: interner.text(attempt.releaseIdentity) }),
    };
  },
  [BUCKETS.upgradeStatus]: (entry, id, interner) => {
    const status = decode(BUCKETS.upgradeStatus, agentUpgradeStatus, entry, id);
    return { ...statusFacts(status, interner), receivedAtMs: entry.receivedAtMs };
  },
};

function statusFacts(status: AgentUpgradeStatus, interner: Interner): Omit<UpgradeStatusReport, "receivedAtMs"> {
  const { attemptId, rejectedRevision, targetVersion, releaseIdentity, reason, failureClass, error } = status;
  return {
    ...(attemptId === undefined ? {} : { attemptId }),
    ...(rejectedRevision === undefined ? {} : { rejectedRevision }),
    ...(targetVersion === undefined ? {} : { targetVersion: interner.text(targetVersion) }),
    ...(releaseIdentity === undefined ? {} : { releaseIdentity: interner.text(releaseIdentity) }),
    phase: status.phase,
    ...(reason === undefined ? {} : { reason: interner.text(reason) }),
    ...(failureClass === undefined ? {} : { failureClass }),
    ...(error === undefined ? {} : { error }),
    startedAtMs: Date.parse(status.startedAt),
    rolledBack: status.transitions.some(({ phase }) => phase === "rolling-back"),
  };
}
