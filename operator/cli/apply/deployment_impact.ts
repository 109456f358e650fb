/**
 * On how many devices a change of resources would change containers, by the operator's own rule of placement.
 *
 * @module
 */
import type { Device } from "../../../contracts/device_resource.ts";
import type { FleetDeployment } from "../../../contracts/fleet_deployment.ts";
import { place } from "../../../contracts/placement.ts";
import { sameJson } from "../../policy/same_json.ts";

/** What would become of the devices that a deployment is placed on. */
export interface DeploymentImpact {
  readonly deployment: string;
  /** Devices that it would be placed on. */
  readonly targets: number;
  /** Targets that do not run it now. */
  readonly gained: number;
  /** Devices that run it now and would remove it. */
  readonly lost: number;
  /** Targets that run it already, and whose containers would change. */
  readonly changed: number;
}

/** What would become of the deployments of one device; names in order. */
export interface DeviceDeployments {
  readonly gained: readonly string[];
  readonly lost: readonly string[];
  /** Those that stay and whose containers would change. */
  readonly changed: readonly string[];
}

/**
 * Compares what a device runs before and after.
 *
 * @param before The device and the deployments as they are; no device for one that is not there yet
 * @param after The device and the deployments as they would be
 */
export function deviceDeployments(
  before: { readonly device: Device | undefined; readonly deployments: readonly FleetDeployment[] },
  after: { readonly device: Device; readonly deployments: readonly FleetDeployment[] },
): DeviceDeployments {
  const has = placedOn(before.device, before.deployments);
  const will = placedOn(after.device, after.deployments);
  const kept = [...will].filter(([name]) => has.has(name));
  return {
    gained: [...will.keys()].filter((name) => !has.has(name)).sort(),
    lost: [...has.keys()].filter((name) => !will.has(name)).sort(),
    changed: kept.flatMap(([name, { spec }]) => {
      const old = has.get(name)?.spec;
      return old === spec || sameJson(old?.podmanV0, spec.podmanV0) ? [] : [name];
    }).sort(),
  };
}

function placedOn(
  device: Device | undefined,
  deployments: readonly FleetDeployment[],
): ReadonlyMap<string, FleetDeployment> {
  if (device === undefined || device.spec.groups.length === 0) return NONE;
  const subject = { groups: device.spec.groups, labels: device.metadata.labels ?? {} };
  const placed = deployments.filter(({ spec }) => place(spec, subject).placed);
  return new Map(placed.map((deployment) => [deployment.metadata.name, deployment]));
}

const NONE: ReadonlyMap<string, FleetDeployment> = new Map();

/** Adds up what becomes of the devices, for the deployments that a change names. */
export class DeploymentTally {
  readonly #impacts: Map<string, { -readonly [M in keyof DeploymentImpact]: DeploymentImpact[M] }>;
  /** Devices on which any container would change. */
  devices = 0;

  /** @param names Deployments that the change names */
  constructor(names: Iterable<string>) {
    const impact = (deployment: string) => ({ deployment, targets: 0, gained: 0, lost: 0, changed: 0 });
    this.#impacts = new Map([...names].map((name) => [name, impact(name)]));
  }

  /** Counts a device. */
  add(device: Device, deployments: readonly FleetDeployment[], { changed, gained, lost }: DeviceDeployments): void {
    if (changed.length + gained.length + lost.length > 0) this.devices++;
    if (this.#impacts.size === 0) return;
    for (const name of placedOn(device, deployments).keys()) this.#count(name, "targets");
    for (const name of gained) this.#count(name, "gained");
    for (const name of lost) this.#count(name, "lost");
    for (const name of changed) this.#count(name, "changed");
  }

  #count(name: string, what: "targets" | "gained" | "lost" | "changed"): void {
    const impact = this.#impacts.get(name);
    if (impact !== undefined) impact[what]++;
  }

  get impacts(): DeploymentImpact[] {
    return [...this.#impacts.values()];
  }
}
