/**
 * Tables of what devices say of their deployments.
 *
 * @module
 */
import type { DeploymentPhase, DeploymentStatus } from "../../../contracts/deployment_status.ts";
import type { Device } from "../../../contracts/device_resource.ts";
import type { DeploymentTargetState } from "../../policy/deployment_target.ts";
import { livenessCell } from "../devices/device_state.ts";
import type { Reported } from "../fleet_access.ts";
import { age, ageOf } from "../render/age.ts";
import type { Tone } from "../render/paint.ts";
import type { Cell, Column } from "../render/table.ts";

/** A device as a target of a deployment. */
export interface DeploymentTargetRow {
  readonly deviceId: string;
  /** Null where the store has no such device. */
  readonly device: Device | null;
  /** When the broker received its newest heartbeat, in ms since the epoch; absent when there is none. */
  readonly heartbeatAtMs: number | undefined;
  readonly state: DeploymentTargetState;
  readonly status: Reported<DeploymentStatus>;
}

const NONE: Cell = { text: "-", tone: "faint" };

const TONES: Readonly<Record<DeploymentPhase, Tone>> = {
  pending: "busy",
  progressing: "busy",
  ready: "good",
  failed: "bad",
};

/** What the device says last, or that it says nothing that can be read. */
function said(status: Reported<DeploymentStatus>): DeploymentStatus | undefined {
  return status.kind === "value" ? status.value : undefined;
}

/** The phase that a device reports, with its colour. */
export function phaseCell(status: Reported<DeploymentStatus>): Cell {
  if (status.kind === "unreadable") return { text: "unreadable", tone: "bad" };
  const phase = said(status)?.phase;
  return phase === undefined ? NONE : { text: phase, tone: TONES[phase] };
}

/** Columns of what a device says of one deployment. */
export function reportColumns<Row extends Pick<DeploymentTargetRow, "status">>(nowMs: number): readonly Column<Row>[] {
  return [
    { title: "PHASE", cell: ({ status }) => phaseCell(status) },
    { title: "REASON", cell: ({ status }) => said(status)?.reason ?? NONE },
    { title: "SINCE", cell: ({ status }) => ageOf(said(status)?.since, nowMs) },
    {
      // As desired: running, or ended well and not to be started again.
      title: "OK",
      align: "right",
      cell: ({ status }) => {
        const containers = said(status)?.containers;
        if (containers === undefined) return NONE;
        return `${
          containers.filter(({ state }) => state === "running" || state === "completed").length
        }/${containers.length}`;
      },
    },
    {
      title: "ERROR",
      cuttable: true,
      cell: ({ status }) => status.kind === "unreadable" ? status.problem : said(status)?.error ?? NONE,
    },
  ];
}

/**
 * Columns of `fleetctl deployment devices`.
 *
 * @param nowMs The present by the broker's clock, in ms since the epoch
 */
export function deploymentTargetColumns(nowMs: number): readonly Column<DeploymentTargetRow>[] {
  return [
    { title: "NAME", cell: ({ deviceId }) => deviceId },
    { title: "LIVENESS", cell: ({ device }) => livenessCell(device?.status) },
    { title: "SEEN", cell: ({ heartbeatAtMs }) => heartbeatAtMs === undefined ? NONE : age(nowMs - heartbeatAtMs) },
    { title: "COUNTED", cell: ({ state }) => ({ text: state, tone: TONES[state] }) },
    ...reportColumns<DeploymentTargetRow>(nowMs),
  ];
}
