/**
 * Tables of the targets of a run.
 *
 * @module
 */
import type { Device } from "../../../contracts/device_resource.ts";
import type { SystemUpgradeStatus } from "../../../contracts/system_upgrade.ts";
import type { TaskTargetState } from "../../policy/task_target_state.ts";
import { livenessCell } from "../devices/device_state.ts";
import type { Reported } from "../fleet_access.ts";
import { age, ageOf } from "../render/age.ts";
import type { Tone } from "../render/paint.ts";
import type { Cell, Column } from "../render/table.ts";

/** A target of a run. */
export interface TaskTargetRow {
  readonly deviceId: string;
  readonly isCanary: boolean;
  /** Null where the store has no such device. */
  readonly device: Device | null;
  /** When the broker received its newest heartbeat, in ms since the epoch; absent when there is none. */
  readonly heartbeatAtMs: number | undefined;
  readonly state: TaskTargetState;
  readonly status: Reported<SystemUpgradeStatus>;
}

const NONE: Cell = { text: "-", tone: "faint" };

const TONES: Readonly<Record<TaskTargetState, Tone>> = {
  waiting: "faint",
  unanswered: "busy",
  running: "busy",
  succeeded: "good",
  failed: "bad",
  late: "bad",
};

function said({ status }: TaskTargetRow): SystemUpgradeStatus | undefined {
  return status.kind === "value" ? status.value : undefined;
}

function packagesText(row: TaskTargetRow): Cell | string {
  const summary = said(row)?.summary;
  if (summary?.upgraded === undefined) return NONE;
  const { kept, removed, upgraded } = summary;
  const parts = [`${upgraded.count}`];
  if (removed !== undefined && removed.count > 0) parts.push(`-${removed.count}`);
  if (kept !== undefined && kept.count > 0) parts.push(`${kept.count} kept`);
  return parts.join(", ");
}

/**
 * Columns of `fleetctl task devices`.
 *
 * @param nowMs The present by the broker's clock, in ms since the epoch
 */
export function taskTargetColumns(nowMs: number): readonly Column<TaskTargetRow>[] {
  return [
    { title: "NAME", cell: ({ deviceId }) => deviceId },
    { title: "CANARY", cell: ({ isCanary }) => isCanary ? "yes" : NONE },
    { title: "LIVENESS", cell: ({ device }) => livenessCell(device?.status) },
    { title: "SEEN", cell: ({ heartbeatAtMs }) => heartbeatAtMs === undefined ? NONE : age(nowMs - heartbeatAtMs) },
    { title: "STATE", cell: ({ state }) => ({ text: state, tone: TONES[state] }) },
    {
      title: "PHASE",
      cell: (row) => row.status.kind === "unreadable" ? { text: "unreadable", tone: "bad" } : said(row)?.phase ?? NONE,
    },
    { title: "REASON", cell: (row) => said(row)?.reason ?? NONE },
    { title: "SINCE", cell: (row) => ageOf(said(row)?.updatedAt, nowMs) },
    { title: "PACKAGES", cell: packagesText },
    {
      title: "ERROR",
      cuttable: true,
      cell: (row) => row.status.kind === "unreadable" ? row.status.problem : said(row)?.error ?? NONE,
    },
  ];
}
