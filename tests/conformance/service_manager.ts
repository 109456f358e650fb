/**
 * What every service manager does, as measured with systemd 252 (`Type=notify`, `Restart=always`,
 * `StartLimitIntervalSec=0`): one suite for the fake and for each adapter.
 *
 * @module
 */
import { assert, assertEquals, assertGreaterOrEqual, assertNotEquals } from "@std/assert";
import type { ServiceManager, StartOutcome } from "../../updater/ports.ts";
import type { ServiceProgram } from "../fakes/service_program.ts";
import { waitUntil } from "../nats/wait_until.ts";

/** A service manager with its one service, not running. */
export interface ServiceSubject extends AsyncDisposable {
  readonly manager: ServiceManager;
  /** What the service's program does from its next start on. */
  use(program: ServiceProgram): Promise<void>;
  /** Kills the running main process. */
  crash(): Promise<void>;
  /** How often the program has been started. */
  starts(): Promise<number>;
  /** Living processes of the service. */
  living(): Promise<number>;
}

/** Bounds that a case asks for, in ms. */
export interface SubjectBounds {
  readonly startTimeoutMs: number;
  readonly stopTimeoutMs: number;
  readonly restartDelayMs: number;
}

/** Makes subjects. */
export type SubjectFactory = (bounds: SubjectBounds) => Promise<ServiceSubject>;

/** Generous: no case that ends otherwise may run into them on a busy machine. */
const CALM: SubjectBounds = { startTimeoutMs: 30_000, stopTimeoutMs: 30_000, restartDelayMs: 20 };
/** Long enough for a program to say its status first. */
const SHORT_MS = 2_000;
const READY: ServiceProgram = { does: "ready" };

type Case = (subject: ServiceSubject) => Promise<void>;

async function activeState({ manager }: ServiceSubject): Promise<string> {
  return (await manager.show()).active;
}

function failedOf(outcome: StartOutcome): Extract<StartOutcome, { kind: "failed" }> {
  assert(outcome.kind === "failed", `the start ended with ${JSON.stringify(outcome)}`);
  assertGreaterOrEqual(outcome.durationMs, 0);
  return outcome;
}

async function started(subject: ServiceSubject, program: ServiceProgram = READY): Promise<void> {
  await subject.use(program);
  const outcome = await subject.manager.start();
  assertEquals(outcome.kind, "ready", JSON.stringify(outcome));
}

const CASES: Readonly<Record<string, readonly [bounds: Partial<SubjectBounds>, run: Case]>> = {
  "a service that does not run is inactive, and a stop of it is done": [{}, async (subject) => {
    assertEquals(await subject.manager.show(), { active: "inactive", restarts: 0 });
    assertEquals(await subject.manager.stop(), { kind: "stopped" });
    await subject.manager.resetFailed();
    assertEquals([await activeState(subject), await subject.starts()], ["inactive", 0]);
  }],

  "a start ends at READY, and a second one finds it done": [{}, async (subject) => {
    await subject.use({ ...READY, statusText: "working" });
    const first = await subject.manager.start();
    assert(first.kind === "ready");
    const state = await subject.manager.show();
    assertEquals([state.active, state.restarts, state.statusText], ["active", 0, "working"]);
    assertEquals(state.invocationId, first.invocationId);
    assert((state.mainPid ?? 0) > 1);
    assertEquals(await subject.manager.start(), first);
    assertEquals([await subject.starts(), await subject.living()], [1, 1]);
  }],

  "a stop leaves no process, and the next start is a new one": [{}, async (subject) => {
    await started(subject, { ...READY, statusText: "working" });
    const before = await subject.manager.show();
    assertEquals(await subject.manager.stop(), { kind: "stopped" });
    const state = await subject.manager.show();
    assertEquals([state.active, state.statusText, state.mainPid], ["inactive", undefined, undefined]);
    assertEquals(await subject.living(), 0);
    await started(subject);
    assertNotEquals((await subject.manager.show()).invocationId, before.invocationId);
  }],

  "an end before READY fails the start at once, by systemd's words": [{}, async (subject) => {
    const cases: readonly (readonly [ServiceProgram, object])[] = [
      [{ does: "exit", exitCode: 0 }, { result: "protocol", exitCode: 0 }],
      [{ does: "exit", exitCode: 1 }, { result: "exit-code", exitCode: 1 }],
      [{ does: "exit", exitCode: 75 }, { result: "exit-code", exitCode: 75 }],
      [{ does: "signal", signal: "SIGKILL" }, { result: "signal", signal: "SIGKILL" }],
      [{ does: "signal", signal: "SIGTERM" }, { result: "protocol", signal: "SIGTERM" }],
    ];
    for (const [program, expected] of cases) {
      await subject.use(program);
      const { result, exitCode, signal } = failedOf(await subject.manager.start());
      const seen = {
        result,
        ...(exitCode === undefined ? {} : { exitCode }),
        ...(signal === undefined ? {} : { signal }),
      };
      assertEquals(seen, expected as typeof seen);
      assertEquals(await subject.manager.stop(), { kind: "stopped" });
    }
  }],

  "a failed start tells the last status and the last lines": [{}, async (subject) => {
    const output = ["first line", "last line"];
    await subject.use({ does: "exit", exitCode: 75, statusText: "[nats] connection refused", output });
    const outcome = failedOf(await subject.manager.start());
    assertEquals(outcome.statusText, "[nats] connection refused");
    assertEquals(outcome.lastLines.slice(-2), output);
  }],

  "a program that is never ready fails the start at its time limit": [{ startTimeoutMs: SHORT_MS }, async (subject) => {
    await subject.use({ does: "wait", statusText: "[snapshot] waiting" });
    const outcome = failedOf(await subject.manager.start());
    assertEquals([outcome.result, outcome.statusText], ["timeout", "[snapshot] waiting"]);
    assertGreaterOrEqual(outcome.durationMs, SHORT_MS - 10);
    assertEquals(await subject.manager.stop(), { kind: "stopped" });
    assertEquals(await subject.living(), 0);
  }],

  "a failed start goes on being tried until it works": [{}, async (subject) => {
    await subject.use({ does: "exit", exitCode: 1 });
    failedOf(await subject.manager.start());
    assertEquals(await activeState(subject), "activating");
    await subject.use(READY);
    await waitUntil("it is active", async () => await activeState(subject) === "active");
    assertGreaterOrEqual((await subject.manager.show()).restarts, 1);
    assertEquals((await subject.manager.start()).kind, "ready");
  }],

  "a stop ends the trying": [{}, async (subject) => {
    await subject.use({ does: "exit", exitCode: 1 });
    failedOf(await subject.manager.start());
    await waitUntil("it is tried again", async () => {
      await subject.manager.show();
      return await subject.starts() > 1;
    });
    assertEquals(await subject.manager.stop(), { kind: "stopped" });
    const starts = await subject.starts();
    await new Promise((resolve) => setTimeout(resolve, 5 * CALM.restartDelayMs));
    assertEquals([await activeState(subject), await subject.starts()], ["inactive", starts]);
  }],

  "a start during the pause does not wait for it": [{ restartDelayMs: 3_000 }, async (subject) => {
    await subject.use({ does: "exit", exitCode: 1 });
    failedOf(await subject.manager.start());
    await started(subject);
  }],

  "a stop cancels the start that is under way": [{}, async (subject) => {
    await subject.use({ does: "wait" });
    const starting = subject.manager.start();
    await waitUntil("the program runs", async () => await subject.starts() === 1);
    assertEquals(await activeState(subject), "activating");
    assertEquals(await subject.manager.stop(), { kind: "stopped" });
    const outcome = await starting;
    assertEquals(outcome.kind === "no-verdict" && outcome.why, "canceled");
    assertEquals([await activeState(subject), await subject.living()], ["inactive", 0]);
  }],

  "a program that does not follow is killed, which counts as stopped": [{ stopTimeoutMs: 300 }, async (subject) => {
    await started(subject, { ...READY, ignoresTerm: true });
    assertEquals(await subject.manager.stop(), { kind: "stopped" });
    assertEquals([await activeState(subject), await subject.living()], ["failed", 0]);
    await subject.manager.resetFailed();
    assertEquals(await activeState(subject), "inactive");
    await started(subject);
  }],

  "a crash after READY is followed by a restart": [{}, async (subject) => {
    await started(subject);
    const before = await subject.manager.show();
    await subject.crash();
    const after = await waitUntil("it is active again", async () => {
      const state = await subject.manager.show();
      return state.active === "active" && state.invocationId !== before.invocationId ? state : null;
    });
    assertGreaterOrEqual(after.restarts, 1);
    assertEquals(await subject.living(), 1);
  }],

  "an exit with 0 after READY is followed by a restart as well": [{}, async (subject) => {
    await started(subject, { does: "ready-and-exit", exitCode: 0 });
    await subject.use(READY);
    await waitUntil("it is active again", async () => {
      const { active, restarts } = await subject.manager.show();
      return active === "active" && restarts >= 1;
    });
  }],

  "calls at the same time share one outcome": [{}, async (subject) => {
    await subject.use(READY);
    const starts = await Promise.all([subject.manager.start(), subject.manager.start()]);
    assertEquals(starts.map(({ kind }) => kind), ["ready", "ready"]);
    const stops = await Promise.all([subject.manager.stop(), subject.manager.stop()]);
    assertEquals(stops.map(({ kind }) => kind), ["stopped", "stopped"]);
    assertEquals([await subject.starts(), await subject.living()], [1, 0]);
  }],
};

/**
 * Registers the suite for one service manager.
 *
 * @param name What is tested
 * @param create Makes a subject
 * @param options `sharesDevice`: subjects share what outlives a case, which is then no leak of it
 */
export function testServiceManager(
  name: string,
  create: SubjectFactory,
  { sharesDevice = false }: { readonly sharesDevice?: boolean } = {},
): void {
  const sanitizers = { sanitizeOps: !sharesDevice, sanitizeResources: !sharesDevice };
  for (const [title, [bounds, run]] of Object.entries(CASES)) {
    Deno.test({ name: `${name}: ${title}`, ...sanitizers }, async () => {
      await using subject = await create({ ...CALM, ...bounds });
      await run(subject);
    });
  }
}
