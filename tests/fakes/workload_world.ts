/**
 * A device with an engine in memory, on which lives of the workload loop follow one another, on a fake clock.
 *
 * @module
 */
import { Blockers } from "../../agent/blockers.ts";
import type { DeploymentView } from "../../agent/core/deployment_view.ts";
import { type HeldEntry, type HeldState, NOTHING_HELD } from "../../agent/core/desired_state.ts";
import { MutationGate } from "../../agent/mutation_gate.ts";
import { WorkloadLoop } from "../../agent/workloads/workload_loop.ts";
import { WORKLOAD_RESYNC_MS } from "../../contracts/limits.ts";
import { silentLogger } from "../../lib/log.ts";
import { DEVICE_ID } from "./agent_samples.ts";
import { FakeClock } from "./fake_clock.ts";
import { FakeEngine } from "./fake_engine.ts";
import { heldOf, IMAGE } from "./workload_samples.ts";

/** One life of the loop. */
export class WorkloadLife {
  readonly gate = new MutationGate();
  readonly blockers = new Blockers();
  /** What was shown, newest last, as `web-1 ready` or `web-1 failed StartFailed`. */
  readonly shown: string[] = [];
  views: readonly DeploymentView[] = [];
  readonly loop: WorkloadLoop;
  readonly #ending = new AbortController();
  readonly ended: Promise<void>;

  constructor(world: WorkloadWorld, isOpen: boolean) {
    if (isOpen) this.gate.open();
    this.loop = new WorkloadLoop({
      deviceId: DEVICE_ID,
      engine: world.engine,
      gate: this.gate,
      held: () => world.held,
      board: { show: (views) => this.#show(views) },
      blockers: this.blockers,
      clock: world.clock,
      log: silentLogger,
      memory: { random: () => 0.99 },
      resyncMs: WORKLOAD_RESYNC_MS,
      turned: () => {},
    });
    this.ended = this.loop.run(this.#ending.signal);
    this.ended.catch(() => {});
  }

  #show(views: readonly DeploymentView[]): void {
    this.views = views;
    for (const { deploymentId, name = deploymentId, phase, reason } of views) {
      const line = reason === undefined ? `${name} ${phase}` : `${name} ${phase} ${reason}`;
      const last = this.shown.findLast((said) => said.startsWith(`${name} `));
      if (last !== line) this.shown.push(line);
    }
  }

  /** How a deployment stands. */
  view(name: string): DeploymentView | undefined {
    return this.views.find((view) => view.name === name);
  }

  /** Ends it as the agent's end does: no more admission, then the loops. */
  end(): void {
    this.gate.close();
    this.#ending.abort(new Error("drain"));
  }
}

/** A device with an engine in memory. */
export class WorkloadWorld {
  readonly clock = new FakeClock();
  readonly engine = new FakeEngine();
  held: HeldState = NOTHING_HELD;
  #life: WorkloadLife | null = null;

  constructor() {
    this.engine.images.add(IMAGE);
  }

  /** Runs a test, and ends the life that it has left. */
  static async use(test: (world: WorkloadWorld) => Promise<void>): Promise<void> {
    const world = new WorkloadWorld();
    try {
      await test(world);
    } finally {
      world.engine.before = () => {};
      world.engine.after = () => {};
      await world.end();
    }
  }

  /** The life that runs. */
  get life(): WorkloadLife {
    if (this.#life === null) throw new Error("no life has begun");
    return this.#life;
  }

  /** Begins a life. */
  begin(isOpen = true): WorkloadLife {
    this.#life = new WorkloadLife(this, isOpen);
    return this.#life;
  }

  /** Ends the life that runs, if one does, and waits for it. */
  async end(): Promise<void> {
    this.#life?.end();
    await this.#life?.ended.catch(() => {});
    this.#life = null;
  }

  /** Leaves the life that runs as a kill does: it hangs where it is, and says and does nothing more. */
  forsake(): void {
    this.#life?.end();
    this.#life = null;
  }

  /** Desires entries, as a whole snapshot does. */
  desire(entries: readonly HeldEntry[], changes: Partial<HeldState> = {}): void {
    this.held = heldOf(entries, changes);
    this.#life?.loop.poke();
  }

  /** Names of what runs. */
  running(): string[] {
    return this.engine.all.filter(({ phase }) => phase === "running").map(({ name }) => name).sort();
  }

  /** Changes that the engine was told to make. */
  changes(): string[] {
    return this.engine.calls.filter((call) => /^(?:create|start|stop|remove|rename) /.test(call));
  }

  /** Moves time until a condition holds. @throws {Error} when it does not within half an hour of fake time */
  async until(what: string, condition: () => boolean, limitMs = 1_800_000): Promise<void> {
    for (let waitedMs = 0; waitedMs <= limitMs; waitedMs += 250) {
      if (condition()) return;
      await this.clock.advance(250);
    }
    throw new Error(`not within ${limitMs} ms of fake time: ${what}; shown: ${this.#life?.shown.join(", ")}`);
  }
}
