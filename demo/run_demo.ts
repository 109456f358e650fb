/**
 * The demo from its first line to its last: start, chapters, figures, end.
 *
 * @module
 */
import { errorText } from "../contracts/errors.ts";
import { Board } from "./board.ts";
import { appearAndUpgrade } from "./chapters/appear.ts";
import { recoverCrash } from "./chapters/recover_crash.ts";
import { checkNeverRetried, refuseBadReleases } from "./chapters/refuse_bad.ts";
import { uniteFleet } from "./chapters/unite.ts";
import { figureLines, runFigures } from "./figures.ts";
import { keepText } from "./keep_text.ts";
import type { Screen } from "./show/screen.ts";
import { Story, StoryEnded } from "./story.ts";
import { Stopped, throwIfStopping } from "./stopping.ts";
import { DemoWorld } from "./world/demo_world.ts";

/** How the demo is run. */
export interface DemoOptions {
  readonly directory: string;
  readonly screen: Screen;
  /** Whether the fleet runs on at the end, until the signal. */
  readonly keep: boolean;
  /** Ends the demo; everything is stopped, and its reason is thrown unless the story had been told to its end. */
  readonly signal: AbortSignal;
}

/**
 * Runs the demo. Nothing that it started runs when it returns or throws; the directory stays.
 *
 * @param options How
 * @returns whether every step ended as it must
 */
export async function runDemo({ directory, screen, keep, signal }: DemoOptions): Promise<boolean> {
  const startMs = performance.now();
  screen.lines("Harmony Fleet: a whole fleet on this machine. ./dev demo --help explains it.\n");
  const world = await DemoWorld.start(directory, signal, (what) => screen.activity(what));
  screen.activity(null);
  const board = new Board(world.fleet, screen);
  try {
    const story = new Story(world, screen, board, signal);
    await tell(story);
    if (story.isWell) tellFigures(story, performance.now() - startMs);
    tellOutcome(story);
    if (keep) await stayUp(story);
    return story.isWell;
  } finally {
    screen.activity("stopping the fleet");
    try {
      await board.close();
    } finally {
      await world.close();
    }
    screen.activity(null);
  }
}

/** Tells the chapters in order; one that does not end as it must is the last. */
async function tell(story: Story): Promise<void> {
  let failedAttempt: string | undefined;
  let failedAtMs = 0;
  const chapters = [
    () => appearAndUpgrade(story),
    async () => {
      failedAttempt = await refuseBadReleases(story);
      failedAtMs = performance.now();
    },
    () => recoverCrash(story),
    async () => {
      await checkNeverRetried(story, failedAttempt, failedAtMs);
      await uniteFleet(story);
    },
  ];
  try {
    for (const chapter of chapters) {
      await chapter();
      if (!story.isWell) return;
    }
  } catch (error) {
    await throwIfStopping(story.signal);
    if (error instanceof StoryEnded) return;
    story.check({ what: "the demo", met: false, expected: "no error", found: errorText(error) });
  } finally {
    story.end();
  }
}

function tellFigures({ screen, upgrades, rollbacks, artifactBytes }: Story, totalMs: number): void {
  screen.heading("Figures of this run");
  screen.lines(figureLines(runFigures(upgrades, rollbacks), artifactBytes, totalMs));
}

function tellOutcome({ findings, screen, isWell }: Story): void {
  const wrong = findings.filter(({ met }) => !met).length;
  screen.lines(
    isWell
      ? `\nEvery step ended as it must (${findings.length} checks).\n`
      : `\n${wrong} of ${findings.length} checks did not come out as they must; see the lines with WRONG.\n`,
    isWell ? "good" : "bad",
  );
}

async function stayUp({ screen, world, signal }: Story): Promise<void> {
  screen.lines(keepText({
    directory: world.directory,
    manifests: world.manifests,
    configFile: world.fleetctl.configFile,
    natsUrl: world.fleet.server.url,
  }));
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
  // Whoever presses Ctrl-C has seen enough; anything else is an error.
  if (!(signal.reason instanceof Stopped)) throw signal.reason;
}
