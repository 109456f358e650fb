/**
 * The deployments of one device: what it was told, and what it says of it.
 *
 * @module
 */
import type { DeploymentStatus } from "../../../contracts/deployment_status.ts";
import { reportColumns } from "../deployments/deployment_target_table.ts";
import type { DeploymentOnDevice, Reported } from "../fleet_access.ts";
import { indented } from "../render/conditions.ts";
import { renderFields } from "../render/fields.ts";
import type { Paint } from "../render/paint.ts";
import { type Cell, renderTable } from "../render/table.ts";
import { type Described, described } from "./described.ts";
import type { DeviceView } from "./device_view.ts";

/** A deployment of a device, for programs. */
export interface DescribedDeployment {
  readonly deploymentId: string;
  readonly told: Described;
  readonly status: Described;
}

/** The deployments as data. */
export function deploymentDescriptions({ deployments, nowMs }: DeviceView): DescribedDeployment[] {
  return deployments.found.map(({ deploymentId, status, told }) => ({
    deploymentId,
    told: described(told, nowMs),
    status: described(status, nowMs),
  }));
}

interface Row {
  readonly name: Cell | string;
  readonly told: Cell | string;
  readonly status: Reported<DeploymentStatus>;
}

/** The deployments as text; nothing when there are none. */
export function renderDeployments({ deployments: { found, problem }, nowMs }: DeviceView, paint: Paint): string {
  const head = `\n${paint("Deployments:", "strong")}\n`;
  if (problem !== undefined) return head + renderFields([["Status", `cannot be read: ${problem}`]], paint, "  ");
  if (found.length === 0) return "";
  const table = renderTable<Row>(
    [
      { title: "NAME", cell: ({ name }) => name },
      { title: "TOLD", align: "right", cell: ({ told }) => told },
      ...reportColumns<Row>(nowMs),
    ],
    found.map(rowOf),
    { width: null, paint },
  );
  return head + indented(table, "  ");
}

function rowOf({ deploymentId, status, told }: DeploymentOnDevice): Row {
  const said = status.kind === "value" ? status.value.name : undefined;
  const name = told.kind === "value" ? told.value.name : said ?? deploymentId;
  switch (told.kind) {
    case "value":
      return { name, status, told: `generation ${told.value.generation}` };
    case "unreadable":
      return { name, status, told: { text: "unreadable", tone: "bad" } };
    default:
      // The device still says something of what it was told to remove.
      return { name, status, told: { text: "to remove", tone: "busy" } };
  }
}
