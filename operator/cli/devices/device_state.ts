/**
 * What a device is about, in a word and a colour.
 *
 * @module
 */
import { isTerminalPhase, type UpgradePhase } from "../../../contracts/agent_upgrade.ts";
import type { DeviceStatus, Liveness } from "../../../contracts/device_resource.ts";
import type { Tone } from "../render/paint.ts";
import type { Cell } from "../render/table.ts";

const REASON_TONES: Readonly<Record<string, Tone>> = {
  UpToDate: "good",
  Pending: "busy",
  Upgrading: "busy",
  Failed: "bad",
  RolledBack: "bad",
  Conflict: "bad",
  UpdaterUnavailable: "bad",
  NoGroups: "faint",
  NoRelease: "faint",
};

const LIVENESS_TONES: Readonly<Record<Liveness, Tone>> = {
  Online: "good",
  Stale: "busy",
  Lost: "bad",
  Unknown: "faint",
};

/**
 * Where the device stands: the phase of an upgrade that runs, else how it stands with its release. The words are those
 * of the wire, so that they can be looked up and searched for.
 *
 * @param status The device's status
 */
export function deviceState(status: DeviceStatus | undefined): Cell {
  if (status === undefined) return { text: "-", tone: "faint" };
  if (status.quarantined) return { text: "Quarantined", tone: "bad" };
  const { upgrade, desiredReason } = status;
  if (upgrade !== undefined && !isTerminalPhase(upgrade.phase)) {
    return { text: upgrade.phase, tone: phaseTone(upgrade.phase) };
  }
  if (desiredReason === undefined) return { text: "-", tone: "faint" };
  return { text: desiredReason, tone: REASON_TONES[desiredReason] };
}

/**
 * Why the device stands there, if there is more to say than {@link deviceState}.
 *
 * @param status The device's status
 */
export function deviceReason(status: DeviceStatus | undefined): string {
  if (status === undefined) return "";
  const { step, upgrade, desiredReason, tiedReleases } = status;
  if (step !== undefined && step !== "ready") return `waits at step ${step}`;
  if (desiredReason === "Conflict") return (tiedReleases ?? []).join(", ");
  const told = upgrade !== undefined && (!isTerminalPhase(upgrade.phase) || tellsOfFailure(status));
  return told ? upgrade.reason ?? "" : "";
}

function tellsOfFailure({ quarantined, desiredReason }: DeviceStatus): boolean {
  return quarantined || desiredReason === "Failed" || desiredReason === "RolledBack";
}

/** Colour of a phase. */
export function phaseTone(phase: UpgradePhase): Tone {
  if (phase === "complete") return "good";
  return phase === "failed" || phase === "rollback-failed" || phase === "rolling-back" ? "bad" : "busy";
}

/** Liveness with its colour. */
export function livenessCell(status: DeviceStatus | undefined): Cell {
  const liveness = status?.liveness ?? "Unknown";
  return { text: liveness, tone: LIVENESS_TONES[liveness] };
}
