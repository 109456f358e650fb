/**
 * Tables of deployments.
 *
 * @module
 */
import type { FleetDeployment } from "../../../contracts/fleet_deployment.ts";
import { ageOf } from "../render/age.ts";
import type { Tone } from "../render/paint.ts";
import type { Cell, Column } from "../render/table.ts";
import { deploymentState, deploymentTone } from "./deployment_state.ts";

const NONE: Cell = { text: "-", tone: "faint" };

function countColumn(title: string, count: (status: Status) => number, tone: Tone): Column<FleetDeployment> {
  return {
    title,
    align: "right",
    cell: ({ status }) => {
      if (status === undefined) return NONE;
      const number = count(status);
      return number === 0 ? String(number) : { text: String(number), tone };
    },
  };
}

type Status = NonNullable<FleetDeployment["status"]>;

/**
 * Columns of `fleetctl get deployments`.
 *
 * @param nowMs The present by the broker's clock, in ms since the epoch
 */
export function deploymentColumns(nowMs: number): readonly Column<FleetDeployment>[] {
  return [
    { title: "NAME", cell: ({ metadata }) => metadata.name },
    { title: "GEN", align: "right", cell: ({ metadata }) => String(metadata.generation) },
    {
      title: "STATE",
      cell: (deployment) => {
        const state = deploymentState(deployment);
        return { text: state, tone: deploymentTone(state) };
      },
    },
    {
      title: "READY",
      align: "right",
      cell: ({ status }) => status === undefined ? NONE : `${status.ready}/${status.targets}`,
    },
    countColumn("PENDING", ({ pending }) => pending, "busy"),
    countColumn("FAILED", ({ failed }) => failed, "bad"),
    {
      title: "LAST ERROR",
      cuttable: true,
      cell: ({ status }) => status?.lastError === undefined ? NONE : { text: status.lastError, tone: "bad" },
    },
    { title: "AGE", cell: ({ metadata }) => ageOf(metadata.creationTimestamp, nowMs) },
  ];
}
