/**
 * What the operator keeps of the documents in `desired-state` and `deployment-status`: the members that decisions and
 * counts look at. Equal entries are one text in memory: all devices get the same of a deployment.
 *
 * @module
 */
import { BUCKETS, documentMaxBytes } from "../../contracts/buckets.ts";
import { decodeBytes, decodeError } from "../../contracts/codec.ts";
import { deploymentStatus } from "../../contracts/deployment_status.ts";
import { desiredEntry, desiredGeneration } from "../../contracts/desired_state.ts";
import { sha256Hex } from "../../contracts/digest.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { bounded } from "../../contracts/formats.ts";
import { DEPLOYMENT_ERROR_KEPT_MAX_CHARS, DOCUMENT_PROBLEM_MAX_CHARS } from "../../contracts/limits.ts";
import type { BusEntry } from "../../lib/bus/port.ts";
import type { ReportedState } from "../policy/deployment_counts.ts";
import type { EntryFacts, GenerationFacts } from "../policy/desired_plan.ts";
import type { Interner } from "./interner.ts";

/** An entry of a device. */
export interface HeldEntry extends EntryFacts {
  /** Generation of the deployment; 0 for an entry that cannot be read. */
  readonly generation: number;
}

/** What a device says of a deployment. */
export interface HeldReport extends ReportedState {
  readonly revision: number;
  /** Name of the deployment; absent where the device cannot tell it. */
  readonly name?: string;
}

/** A document, and why it cannot be read if it cannot. */
export interface ReadDocument<T> {
  readonly held: T;
  readonly problem?: string;
}

type EntryContent = Omit<HeldEntry, "revision">;

/**
 * Reads an entry.
 *
 * @param entry What stands under the key
 * @param token Last token of the key
 * @param interner Shares equal entries
 */
export function readEntry(entry: BusEntry, token: string, interner: Interner): ReadDocument<HeldEntry> {
  const digest = sha256Hex(entry.value);
  const { content, problem } = interner.sharedBy(`${token} ${digest}`, () => entryContent(entry, token, digest));
  return { held: { ...content, revision: entry.revision }, ...(problem === undefined ? {} : { problem }) };
}

function entryContent(
  { value }: BusEntry,
  token: string,
  digest: string,
): { content: EntryContent; problem?: string } {
  const decoded = attempt(() => {
    const { deploymentId, generation, name } = decodeBytes(desiredEntry, value, documentMaxBytes(BUCKETS.desiredState));
    if (deploymentId !== token) throw decodeError("deploymentId", "is not the one of the key");
    return { name, generation };
  });
  return decoded.problem === undefined
    ? { content: { ...decoded.value, digest } }
    : { content: { name: null, generation: 0, digest }, problem: decoded.problem };
}

/**
 * Reads a device's generation.
 *
 * @param entry What stands under the key
 */
export function readGeneration(entry: BusEntry): ReadDocument<GenerationFacts> {
  const { revision } = entry;
  const decoded = attempt(() => decodeBytes(desiredGeneration, entry.value, documentMaxBytes(BUCKETS.desiredState)));
  if (decoded.problem !== undefined) return { held: { revision, value: null }, problem: decoded.problem };
  const { generation, entries } = decoded.value;
  return { held: { revision, value: { generation, entries } } };
}

/**
 * Reads what a device says of a deployment; one that cannot be read says that it is pending.
 *
 * @param entry What stands under the key
 * @param deviceId Device of the key
 * @param uid Deployment of the key
 * @param interner Shares equal errors
 */
export function readReport(
  entry: BusEntry,
  deviceId: string,
  uid: string,
  interner: Interner,
): ReadDocument<HeldReport> {
  const { receivedAtMs, revision } = entry;
  const decoded = attempt(() => {
    const status = decodeBytes(deploymentStatus, entry.value, documentMaxBytes(BUCKETS.deploymentStatus));
    if (status.deviceId !== deviceId) throw decodeError("deviceId", "is not the device of the key");
    if (status.deploymentId !== uid) throw decodeError("deploymentId", "is not the one of the key");
    return status;
  });
  if (decoded.problem !== undefined) {
    return { held: { revision, receivedAtMs, phase: "pending" }, problem: decoded.problem };
  }
  const { phase, generation, error, name, reason } = decoded.value;
  const told = phase === "failed" ? error ?? reason : undefined;
  return {
    held: {
      revision,
      receivedAtMs,
      phase,
      ...(name === undefined ? {} : { name: interner.text(name) }),
      ...(generation === undefined ? {} : { generation }),
      ...(told === undefined ? {} : { error: interner.text(bounded(told, DEPLOYMENT_ERROR_KEPT_MAX_CHARS)) }),
    },
  };
}

type Attempt<T> = { readonly value: T; readonly problem?: never } | { readonly problem: string };

function attempt<T>(decode: () => T): Attempt<T> {
  try {
    return { value: decode() };
  } catch (error) {
    if (!isFleetError(error, "E_DECODE")) throw error;
    return { problem: bounded(error.message, DOCUMENT_PROBLEM_MAX_CHARS) };
  }
}
