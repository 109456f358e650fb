/**
 * Tables of devices.
 *
 * @module
 */
import type { Device } from "../../../contracts/device_resource.ts";
import { targetState } from "../../policy/target_state.ts";
import { age, ageOf } from "../render/age.ts";
import type { Cell, Column } from "../render/table.ts";
import { deviceReason, deviceState, livenessCell } from "./device_state.ts";

/** A device with what a table shows of it beside the resource. */
export interface DeviceRow {
  readonly device: Device;
  /** When the broker received its newest heartbeat, in ms since the epoch; absent when there is none. */
  readonly heartbeatAtMs: number | undefined;
}

const NONE: Cell = { text: "-", tone: "faint" };

function orNone(text: string | undefined): Cell | string {
  return text === undefined || text === "" ? NONE : text;
}

function nameColumn(): Column<DeviceRow> {
  return { title: "NAME", cell: ({ device }) => device.metadata.name };
}

function livenessColumns(nowMs: number): Column<DeviceRow>[] {
  return [
    { title: "LIVENESS", cell: ({ device }) => livenessCell(device.status) },
    {
      title: "SEEN",
      cell: ({ heartbeatAtMs }) => heartbeatAtMs === undefined ? NONE : age(nowMs - heartbeatAtMs),
    },
    { title: "AGENT", cell: ({ device }) => orNone(device.status?.agentVersion) },
  ];
}

/**
 * Columns of `fleetctl get devices`.
 *
 * @param nowMs The present by the broker's clock, in ms since the epoch
 */
export function deviceColumns(nowMs: number): readonly Column<DeviceRow>[] {
  return [
    nameColumn(),
    ...livenessColumns(nowMs),
    { title: "RELEASE", cell: ({ device }) => orNone(device.status?.desiredRelease) },
    { title: "STATE", cell: ({ device }) => deviceState(device.status) },
    { title: "REASON", cuttable: true, cell: ({ device }) => orNone(deviceReason(device.status)) },
    { title: "GROUPS", cuttable: true, cell: ({ device }) => orNone(device.spec.groups.join(",")) },
    { title: "AGE", cell: ({ device }) => ageOf(device.metadata.creationTimestamp, nowMs) },
  ];
}

/**
 * Columns of `fleetctl release devices`.
 *
 * @param nowMs The present by the broker's clock, in ms since the epoch
 */
export function targetColumns(nowMs: number): readonly Column<DeviceRow>[] {
  return [
    nameColumn(),
    ...livenessColumns(nowMs),
    {
      title: "COUNTED",
      cell: ({ device }) => orNone(device.status === undefined ? undefined : kebab(targetState(device.status) ?? "")),
    },
    { title: "STATE", cell: ({ device }) => deviceState(device.status) },
    { title: "REASON", cell: ({ device }) => orNone(deviceReason(device.status)) },
    { title: "SINCE", cell: ({ device }) => ageOf(device.status?.upgrade?.updatedAt, nowMs) },
    { title: "ERROR", cuttable: true, cell: ({ device }) => orNone(device.status?.upgrade?.error) },
  ];
}

/** A count's name as the command line has it. */
export function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
