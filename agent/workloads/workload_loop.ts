/**
 * Makes the device run what it should: gather, plan, apply (DESIGN 6, Reconcile). Level-triggered: it looks at the
 * containers after every change of what is desired, after what it did itself, when a pause ends, and from time to time.
 * Whatever goes wrong with one workload delays no other, and never ends the agent.
 *
 * @module
 */
import { errorText, isFleetError } from "../../contracts/errors.ts";
import { bounded } from "../../contracts/formats.ts";
import { HEARTBEAT_INTERVAL_MS, WORKLOAD_SETTLE_MS } from "../../contracts/limits.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import type { Blockers } from "../blockers.ts";
import { LABELS } from "../core/container_labels.ts";
import { deploymentViews } from "../core/deployment_view.ts";
import type { HeldState } from "../core/desired_state.ts";
import { type ContainerPlan, type PlacePlan, planContainers } from "../core/plan_containers.ts";
import type { MutationGate } from "../mutation_gate.ts";
import type { ContainerEngine, EngineContainer } from "../podman/port.ts";
import { WakeUp } from "../wake_up.ts";
import { type Applied, applyPlace } from "./apply_place.ts";
import { ImagePuller } from "./image_puller.ts";
import { PlaceMemory, type PlaceMemoryOptions } from "./place_memory.ts";
import type { StatusBoard } from "./status_board.ts";

/** What the loop works with. */
export interface WorkloadLoopOptions {
  readonly deviceId: string;
  readonly engine: ContainerEngine;
  readonly gate: MutationGate;
  /** What is desired now. */
  readonly held: () => HeldState;
  readonly board: Pick<StatusBoard, "show">;
  readonly blockers: Blockers;
  readonly clock: Clock;
  readonly log: Logger;
  /** Pauses of a place that fails. */
  readonly memory: PlaceMemoryOptions;
  /** Pause between two looks when nothing has changed, in ms. */
  readonly resyncMs: number;
  /** Called at each turn and before each step. */
  readonly turned: () => void;
}

/** Makes the device run what it should. */
export class WorkloadLoop {
  readonly #options: WorkloadLoopOptions;
  readonly #memory: PlaceMemory;
  readonly #puller: ImagePuller;
  readonly #wakeUp: WakeUp;
  #dueMs = 0;
  #lookAgainMs = Number.POSITIVE_INFINITY;

  constructor(options: WorkloadLoopOptions) {
    this.#options = options;
    this.#wakeUp = new WakeUp(options.clock);
    this.#memory = new PlaceMemory(options.memory);
    this.#puller = new ImagePuller(options.engine, () => this.poke());
  }

  /** Something has changed: the next look comes at once. */
  poke(): void {
    this.#dueMs = 0;
    this.#wakeUp.poke();
  }

  /** Works until the signal aborts; the mutation that runs then is finished, and no other is begun. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#puller.run(signal), this.#loop(signal)]);
  }

  async #loop(signal: AbortSignal): Promise<void> {
    const { clock, turned } = this.#options;
    while (!signal.aborted) {
      turned();
      if (clock.monotonicMs() < this.#dueMs) {
        // Wakes from time to time only to show that it turns.
        await this.#wakeUp.pause(Math.min(this.#dueMs - clock.monotonicMs(), HEARTBEAT_INTERVAL_MS), signal);
        continue;
      }
      const startedMs = clock.monotonicMs();
      this.#dueMs = Number.POSITIVE_INFINITY;
      const changed = await this.#pass(signal);
      // What was poked while the pass ran stays due.
      if (this.#dueMs > 0) this.#dueMs = changed ? 0 : this.#nextLookMs(startedMs);
    }
  }

  #nextLookMs(startedMs: number): number {
    const nowMs = this.#options.clock.monotonicMs();
    const settledMs = this.#lookAgainMs > nowMs ? this.#lookAgainMs : Number.POSITIVE_INFINITY;
    return Math.min(startedMs + this.#options.resyncMs, settledMs, this.#memory.nextDueMs(nowMs));
  }

  /** One look, and what follows from it. @returns whether something was changed, so that another look is due */
  async #pass(signal: AbortSignal): Promise<boolean> {
    const { clock, deviceId, gate, held } = this.#options;
    const containers = await this.#gather(signal);
    if (containers === null) return false;
    const desired = held();
    const plan = planContainers(deviceId, desired, containers);
    this.#memory.look(plan.places, clock.monotonicMs());
    this.#puller.keep(new Set(plan.places.map(({ key }) => key)));
    this.#show(desired, plan);
    let changed = false;
    for (const place of plan.places) {
      if (!gate.isOpen || signal.aborted) return false;
      // What is desired has changed: the rest of this plan is of yesterday.
      if (held() !== desired) return true;
      if (place.steps.length === 0 || this.#memory.waits(place, clock.monotonicMs())) continue;
      const applied = await applyPlace(place, {
        engine: this.#options.engine,
        gate,
        puller: this.#puller,
        turned: this.#options.turned,
      });
      if (applied.kind === "unreachable") {
        this.#away(applied.error);
        return false;
      }
      this.#remember(place, applied);
      changed ||= applied.kind === "done";
    }
    if (changed) this.#lookAgainMs = clock.monotonicMs() + WORKLOAD_SETTLE_MS;
    else this.#show(desired, plan);
    return changed;
  }

  async #gather(signal: AbortSignal): Promise<EngineContainer[] | null> {
    const { blockers, deviceId, engine, log } = this.#options;
    try {
      const containers = await engine.list({ [LABELS.device]: deviceId, [LABELS.deploymentId]: null }, signal);
      blockers.set("podman", null);
      log.state("podman", "Podman is reached", {}, "debug");
      return containers;
    } catch (error) {
      if (signal.aborted) return null;
      if (!isFleetError(error)) throw error;
      this.#away(error);
      return null;
    }
  }

  /** What cannot be looked at is left as it is; its statuses stay what they were. */
  #away(error: unknown): void {
    const { blockers, log } = this.#options;
    blockers.set("podman", bounded(errorText(error)));
    log.state("podman", "Podman is not reached", { error: errorText(error) }, "warn");
  }

  #remember(place: PlacePlan, applied: Applied): void {
    const { clock, log } = this.#options;
    const { container, deployment } = place.owner;
    if (applied.kind === "done") {
      this.#memory.succeeded(place, clock.monotonicMs());
      const steps = place.steps.map(({ kind }) => kind).join(" ");
      log.state(`place ${place.key}`, "container changed", { deployment, container, steps });
    }
    if (applied.kind !== "failed") return;
    this.#memory.failed(place, applied.failure, clock.monotonicMs());
    log.state(
      `place ${place.key}`,
      "container cannot be changed",
      { deployment, container, ...applied.failure },
      "warn",
    );
  }

  #show(desired: HeldState, plan: ContainerPlan): void {
    const views = deploymentViews(desired, plan, {
      failureOf: (place) => this.#memory.failureOf(place),
      restartsOf: (place) => this.#memory.restartsOf(place),
      tried: (place) => this.#memory.tried(place),
      pulling: (place) =>
        place.wanted !== undefined && this.#puller.state(place.key, place.wanted.image)?.kind === "pulling",
    });
    this.#options.board.show(views, desired.whole);
  }
}
