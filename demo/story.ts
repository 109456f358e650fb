/**
 * What every chapter works with: the fleet, the screen, commands that are shown, waits that are announced, and the
 * findings.
 *
 * @module
 */
import { type AgentUpgradeStatus, isTerminalPhase } from "../contracts/agent_upgrade.ts";
import type { DeviceStatus } from "../contracts/device_resource.ts";
import type { Board } from "./board.ts";
import { type ExpectedEnd, expectEnd, expectEqual, type Finding, findingLines, type FoundEnd } from "./expectation.ts";
import type { Screen } from "./show/screen.ts";
import { throwIfStopping } from "./stopping.ts";
import type { DemoWorld } from "./world/demo_world.ts";

/** Longest wait for anything in the demo, in ms: several times what a busy machine needs. */
const WAIT_TIMEOUT_MS = 60_000;
/** Between two looks, in ms: the fleet needs the processor more. */
const LOOK_INTERVAL_MS = 50;

/** Last lines of a log that are shown. */
const LOG_LINES = 5;

/** Something did not come in time; the demo ends with it. */
export class StoryEnded extends Error {
  override readonly name = "StoryEnded";
}

/** The demo while it runs. */
export class Story {
  readonly world: DemoWorld;
  readonly screen: Screen;
  readonly board: Board;
  readonly signal: AbortSignal;
  readonly findings: Finding[] = [];
  /** Ends of the good upgrades, for the figures. */
  readonly upgrades: AgentUpgradeStatus[] = [];
  /** Ends of the attempts that were rolled back, for the figures. */
  readonly rollbacks: AgentUpgradeStatus[] = [];
  /** Size of a good artifact; 0 until there is one. */
  artifactBytes = 0;
  /** What is waited for now, oldest first. */
  readonly #waits = new Set<string>();
  readonly #ending = new AbortController();

  constructor(world: DemoWorld, screen: Screen, board: Board, signal: AbortSignal) {
    this.world = world;
    this.screen = screen;
    this.board = board;
    this.signal = signal;
  }

  /** Whether every step so far ended as it must. */
  get isWell(): boolean {
    return this.findings.every(({ met }) => met);
  }

  /** Ends all waits: what runs side by side ends when one of it has ended the story. */
  end(): void {
    this.#ending.abort(new StoryEnded("the story is over"));
  }

  /** Records a comparison and shows it. */
  check(finding: Finding): void {
    this.findings.push(finding);
    this.screen.lines(findingLines(finding), finding.met ? "good" : "bad");
  }

  /**
   * Runs `fleetctl`, and shows command and output.
   *
   * @param args Arguments after its name
   * @throws {StoryEnded} when it fails
   */
  async fleetctl(...args: readonly string[]): Promise<void> {
    const { world, screen, board, signal } = this;
    const command = `fleetctl ${args.join(" ")}`;
    board.hold();
    screen.command(command);
    const { code, out, err } = await this.#announced(
      command,
      () => world.fleetctl.run(args, { cwd: world.manifests, signal }),
    );
    if (code !== 0) await throwIfStopping(signal);
    screen.output(`${out}${err}`);
    board.release();
    if (code === 0) return;
    this.check(expectEqual(`exit code of ${command}`, 0, code));
    throw new StoryEnded(`${command} failed`);
  }

  /**
   * Waits, and says for what when it takes long.
   *
   * @param what What is waited for
   * @param condition Asked again and again until it gives something
   * @throws {StoryEnded} when it takes too long
   */
  async wait<T>(what: string, condition: () => Promise<T | false | null | undefined>): Promise<T> {
    const endMs = performance.now() + WAIT_TIMEOUT_MS;
    return await this.#announced(what, async () => {
      for (;;) {
        this.signal.throwIfAborted();
        this.#ending.signal.throwIfAborted();
        const found = await condition();
        if (found !== false && found !== null && found !== undefined) return found;
        await this.#checkPrograms();
        if (performance.now() > endMs) {
          this.check(expectEqual(what, `within ${WAIT_TIMEOUT_MS / 1_000} s`, "not yet"));
          throw new StoryEnded(`${what} did not come`);
        }
        await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL_MS));
      }
    });
  }

  /** What will never come is not waited for. */
  async #checkPrograms(): Promise<void> {
    const { ended } = this.world;
    if (ended === null) return;
    await throwIfStopping(this.signal);
    const last = (await Deno.readTextFile(ended.logFile)).trimEnd().split("\n").slice(-LOG_LINES).join("\n");
    this.check(expectEqual(ended.program, "runs", `has ended; its log ends with\n${last}`));
    throw new StoryEnded(`${ended.program} has ended`);
  }

  async #announced<T>(what: string, work: () => Promise<T>): Promise<T> {
    this.#waits.add(what);
    this.#showWaits();
    try {
      return await work();
    } finally {
      this.#waits.delete(what);
      this.#showWaits();
    }
  }

  #showWaits(): void {
    const [first] = this.#waits;
    this.screen.activity(first === undefined ? null : `waiting: ${first}`);
  }

  /** Waits until the operator has written about a device what is asked for. */
  async deviceStatus(id: string, what: string, matches: (status: DeviceStatus) => boolean): Promise<DeviceStatus> {
    return await this.wait(`${id}, ${what}`, async () => {
      const status = (await this.world.device(id))?.status;
      return status !== undefined && matches(status) ? status : null;
    });
  }

  /**
   * Waits for the end of an attempt, as the device has published it in NATS.
   *
   * @param id The device
   * @param targetVersion Version of the release
   * @param earlier Attempt of the same version that has ended before
   */
  async endOf(id: string, targetVersion: string, earlier?: string): Promise<FoundEnd> {
    const { fleet } = this.world;
    const status = await this.wait(`${id}, the end of the attempt for ${targetVersion}`, async () => {
      const found = await fleet.status(id);
      if (found?.targetVersion !== targetVersion || found.attemptId === earlier) return null;
      return isTerminalPhase(found.phase) ? found : null;
    });
    const device = fleet.device(id);
    return { status, selected: await device.selectedVersion(), lives: await device.agentPid() !== null };
  }

  /** Waits for the end of an attempt and compares it. */
  async checkEnd(what: string, id: string, targetVersion: string, expected: ExpectedEnd): Promise<FoundEnd> {
    const found = await this.endOf(id, targetVersion);
    this.check(expectEnd(`${id}, ${what}`, expected, found));
    return found;
  }
}
