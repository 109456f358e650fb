/**
 * The part of a device that runs deployments, as the broker sees it: it takes what it is told by the agent's own rule,
 * and reports, by a script instead of by Podman.
 *
 * @module
 */
import { applySnapshot, type HeldState, NOTHING_HELD, readSnapshot } from "../../agent/core/desired_state.ts";
import { BUCKETS, deploymentStatusKey, desiredStateFilter } from "../../contracts/buckets.ts";
import type { DeploymentPhase, DeploymentStatus } from "../../contracts/deployment_status.ts";
import type { Bus } from "../../lib/bus/port.ts";
import { snapshotMap } from "../../lib/bus/snapshot_map.ts";

/** What becomes of a deployment on a device. */
export type WorkloadOutcome = "ready" | "failed" | "silent";

/** What a device does with its deployments. */
export interface WorkloadScript {
  /** Default `ready`. */
  readonly outcome?: (name: string, generation: number) => WorkloadOutcome;
}

/** Deployments of one device. */
export class ScriptedWorkloads {
  readonly id: string;
  /** What it did, in order: `+name`, `~name` for a change, `-name`. */
  readonly history: string[] = [];
  readonly #bus: Bus;
  readonly #script: WorkloadScript;
  #held: HeldState = NOTHING_HELD;

  constructor(bus: Bus, id: string, script: WorkloadScript = {}) {
    this.#bus = bus;
    this.id = id;
    this.#script = script;
  }

  /** What runs, as `name generation`, in order of name. */
  get running(): string[] {
    return [...this.#held.entries.values()].map(({ name, generation }) => `${name} ${generation}`).sort();
  }

  /** Follows the desired state until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const bucket = await this.#bus.bucket(BUCKETS.desiredState);
    for await (const event of bucket.watch(desiredStateFilter(this.id), signal)) {
      if (event.kind === "restarted") continue;
      // While the broker is away nothing is taken; the watch tells when it is back.
      await this.take().catch(() => {});
    }
  }

  /** Takes one snapshot, as an agent does for every change. */
  async take(): Promise<void> {
    const snapshot = await snapshotMap(await this.#bus.bucket(BUCKETS.desiredState), desiredStateFilter(this.id));
    const before = this.#held;
    const change = applySnapshot(before, readSnapshot(this.id, [...snapshot.values()]));
    this.#held = change.held;
    const nameOf = (token: string) => (change.held.entries.get(token) ?? before.entries.get(token))?.name ?? token;
    for (const [mark, tokens] of [["+", change.added], ["~", change.changed], ["-", change.removed]] as const) {
      this.history.push(...tokens.map((token) => mark + nameOf(token)));
    }
    for (const token of change.removed) {
      await (await this.#bus.bucket(BUCKETS.deploymentStatus)).delete(deploymentStatusKey(this.id, token));
    }
    for (const token of [...change.added, ...change.changed]) {
      const entry = change.held.entries.get(token);
      if (entry !== undefined) await this.#report(token, entry);
    }
  }

  /** Says where a deployment stands. */
  async publish(uid: string, phase: DeploymentPhase, changes: Partial<DeploymentStatus> = {}): Promise<void> {
    const now = new Date().toISOString();
    const status: DeploymentStatus = {
      schema: 1,
      deviceId: this.id,
      deploymentId: uid,
      phase,
      containers: [],
      since: now,
      updatedAt: now,
      ...changes,
    };
    const bucket = await this.#bus.bucket(BUCKETS.deploymentStatus);
    await bucket.put(deploymentStatusKey(this.id, uid), new TextEncoder().encode(JSON.stringify(status)));
  }

  async #report(uid: string, { name, generation }: { readonly name: string; readonly generation: number }) {
    const outcome = this.#script.outcome?.(name, generation) ?? "ready";
    if (outcome === "silent") return;
    const failure = outcome === "failed" ? { reason: "ImageUnavailable", error: `app: no image for ${name}` } : {};
    await this.publish(uid, outcome, { name, generation, ...failure });
  }
}
