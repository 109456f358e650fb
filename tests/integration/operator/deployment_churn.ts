/**
 * Changes to deployments and devices at random, and what every device must be told in the end.
 *
 * @module
 */
import { place } from "../../../contracts/placement.ts";
import { seededRandom } from "../../fakes/seeded_random.ts";
import type { OperatorWorld } from "./operator_world.ts";

const SITES = ["basel", "bern", "chur"];
const GROUPS = ["edge", "core"];

/** Changes a world, the same for the same seed. */
export class DeploymentChurn {
  readonly #world: OperatorWorld;
  readonly #ids: readonly string[];
  readonly #random: () => number;
  /** Never changed after it is there, and placed on every device. */
  static readonly KEPT = "kept";

  constructor(world: OperatorWorld, ids: readonly string[], seed: number) {
    this.#world = world;
    this.#ids = ids;
    this.#random = seededRandom(seed);
  }

  #pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.#random() * items.length)];
    if (item === undefined) throw new RangeError("nothing to pick from");
    return item;
  }

  /** Makes the devices, each in the group `all`, and the deployment that stays. */
  async begin(): Promise<void> {
    for (const id of this.#ids) {
      await this.#world.store.create("Device", { name: id, labels: {}, spec: { groups: ["all"] } });
    }
    await this.#world.deployment(DeploymentChurn.KEPT, { allowedGroups: ["all"] });
  }

  /** Makes one change. */
  async step(): Promise<void> {
    const name = this.#pick(["a", "b", "c", "d"]);
    switch (Math.floor(this.#random() * 5)) {
      case 0:
        await this.#world.store.delete("FleetDeployment", name);
        break;
      case 1:
      case 2: {
        const image = `registry.example/app:${Math.floor(this.#random() * 3)}`;
        await this.#world.deployment(name, {
          allowedGroups: [this.#pick(GROUPS)],
          targetSelector: this.#random() < 0.5 ? {} : { matchLabels: { site: this.#pick(SITES) } },
          podmanV0: { containers: [{ name: "app", image }] },
        });
        break;
      }
      default: {
        const groups = GROUPS.filter(() => this.#random() < 0.5);
        await this.#world.groups(this.#pick(this.#ids), ["all", ...groups], { site: this.#pick(SITES) });
      }
    }
  }

  /** What each device must be told now, by the one rule of placement. */
  async wanted(): Promise<Map<string, string[]>> {
    const deployments = await this.#world.store.list("FleetDeployment");
    const devices = await this.#world.store.list("Device");
    return new Map(devices.map(({ metadata, spec }) => {
      const subject = { groups: spec.groups, labels: metadata.labels ?? {} };
      const placed = deployments.filter((deployment) => place(deployment.spec, subject).placed);
      return [metadata.name, placed.map((one) => `${one.metadata.name} ${one.metadata.generation}`).sort()];
    }));
  }

  /** Waits until every device is told that, and every deployment counts its targets. */
  async settled(): Promise<void> {
    const wanted = await this.wanted();
    for (const [id, entries] of wanted) await this.#world.untilTold(id, entries, 60_000);
    for (const { metadata: { generation, name } } of await this.#world.store.list("FleetDeployment")) {
      const targets = [...wanted.values()].filter((entries) => entries.includes(`${name} ${generation}`)).length;
      await this.#world.untilDeployment(name, { targets, observedGeneration: generation }, 60_000);
    }
  }
}
