/**
 * One cut of a device's power and what must be true afterwards (issue 4, Power cuts): the device boots and is reachable,
 * its journal is in a state of the recovery table, the link selects one agent, which becomes READY, the status arrives in
 * NATS, and the next attempt works.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import type { AgentUpgradeAttempt } from "../../contracts/agent_upgrade.ts";
import { JOURNAL_MAX_BYTES } from "../../contracts/limits.ts";
import { decodeJournal } from "../../lib/journal/journal_codec.ts";
import { RECORD_SCHEMA, recordDecoder } from "../../updater/core/record.ts";
import type { LabBuild, LabFleet } from "../lab/lab_fleet.ts";
import { assertEnd, assertSound, publishedStatus } from "../lab/scenario.ts";
import { waitUntil } from "../nats/wait_until.ts";
import { expectedEnd, foundProblem, type FoundState, type JournalState, type Versions } from "./after_cut.ts";
import { type Cut, CUT_PHASES, type CutPhase, delayMs, describeCut, type Lengths } from "./cut_plan.ts";
import { BOOT_SNAPSHOT } from "./vm_image.ts";

/** What a cut has shown. */
export interface CutResult {
  readonly found: FoundState;
  /** How the attempt ended. */
  readonly end: "complete" | "failed";
  /** From the start of the machine until its agent was READY, in ms. */
  readonly bootToReadyMs: number;
}

/** The length of a moment after the end, in ms. */
const AFTER_END_MS = 2_000;

/** One device that is cut again and again, and what is known of its pace. */
export class CutRounds {
  readonly #lab: LabFleet;
  readonly #build: Omit<LabBuild, "version">;
  #major = 1;
  #version: string;
  #whole: Record<Cut["release"], number> = { good: 0, bad: 0 };
  #phases: Record<CutPhase, number> = {
    preparing: 0,
    stopping: 0,
    starting: 0,
    "rolling-back": 0,
    complete: AFTER_END_MS,
  };

  /**
   * @param lab The device, with agent 1.0.0 READY
   * @param build Form of the agents
   */
  constructor(lab: LabFleet, build: Omit<LabBuild, "version"> = {}) {
    this.#lab = lab;
    this.#build = build;
    this.#version = "1.0.0";
  }

  /** What was measured last. */
  get lengths(): Lengths {
    return { whole: this.#whole, phases: this.#phases };
  }

  #nextVersion(): string {
    this.#major++;
    return `${this.#major}.0.0`;
  }

  /** An upgrade that nothing interrupts, which says how long everything takes. */
  async undisturbed(release: Cut["release"]): Promise<void> {
    const target = this.#nextVersion();
    const artifact = await this.#lab.publish(this.#agent(target, release));
    const startMs = performance.now();
    const attempt = await this.#lab.upgrade(target, artifact);
    const ended = this.#lab.ended(attempt).then(() => performance.now());
    const status = await assertEnd(this.#lab, attempt, {
      version: release === "good" ? target : this.#version,
      phase: release === "good" ? "complete" : "failed",
    });
    this.#whole[release] = await ended - startMs;
    for (const [index, { phase, at }] of status.transitions.entries()) {
      const next = status.transitions[index + 1];
      const known = CUT_PHASES.find((name) => name === phase);
      if (next !== undefined && known !== undefined) this.#phases[known] = Date.parse(next.at) - Date.parse(at);
    }
    if (release === "good") this.#version = target;
  }

  #agent(version: string, release: Cut["release"]): LabBuild {
    return { version, ...this.#build, ...(release === "bad" ? { defect: "exits-1" as const } : {}) };
  }

  /** Cuts the power once, and checks everything that must hold. */
  async round(cut: Cut): Promise<CutResult> {
    const lab = this.#lab;
    const versions = { previous: this.#version, target: this.#nextVersion() };
    const artifact = await lab.publish(this.#agent(versions.target, cut.release));
    const attempt = await lab.upgrade(versions.target, artifact);
    await this.#untilMoment(cut, attempt);
    await lab.device.cut();
    const status = await publishedStatus(lab);
    const startMs = performance.now();
    await lab.device.boot();
    const found: FoundState = {
      ...await foundOnDisk(lab, attempt),
      published: status?.attemptId === attempt.attemptId ? status.phase : null,
    };
    const bootToReadyMs = await untilReady(lab, startMs);
    const end = await this.#assertRecovered(cut, attempt, versions, found);
    await this.undisturbed("good");
    return { found, end, bootToReadyMs };
  }

  async #untilMoment(cut: Cut, attempt: AgentUpgradeAttempt): Promise<void> {
    const { phase } = cut;
    if (phase !== null) await untilPhase(this.#lab, attempt, phase);
    await new Promise((resolve) => setTimeout(resolve, delayMs(cut, this.lengths)));
  }

  async #assertRecovered(
    cut: Cut,
    attempt: AgentUpgradeAttempt,
    versions: Versions,
    found: FoundState,
  ): Promise<"complete" | "failed"> {
    const what = `${describeCut(cut)}: ${JSON.stringify(found)}`;
    assertEquals(foundProblem(found, versions), null, what);
    const expected = expectedEnd(found, cut.release, versions);
    assert(expected !== null, `${what}: no recovery leads on from here`);
    await assertEnd(this.#lab, attempt, expected);
    await assertSound(this.#lab, expected.version);
    this.#version = expected.version;
    return expected.phase;
  }
}

/** Waits until a phase of an attempt has begun, or been missed. */
async function untilPhase(lab: LabFleet, { attemptId }: AgentUpgradeAttempt, phase: CutPhase): Promise<void> {
  await waitUntil(`the phase ${phase}`, async () => {
    const status = (await lab.state())?.transaction?.status;
    return status?.attemptId === attemptId && status.transitions.some((transition) => transition.phase === phase);
  }, 120_000 * lab.kind.patience);
}

/** What the disk held when the device was booted, before its updater saw it. */
async function foundOnDisk(lab: LabFleet, { attemptId }: AgentUpgradeAttempt): Promise<Omit<FoundState, "published">> {
  const { device, paths } = lab;
  await waitUntil(
    "the state at boot to be kept",
    async () => await device.property("vm-snapshot.service", "ActiveState") === "active",
    60_000 * lab.kind.patience,
    lab.kind.lookIntervalMs,
  );
  const link = (await device.sh(`cat ${BOOT_SNAPSHOT}/link`)).replace(/^.*fleet-agent-v/, "");
  // As it is: its last line feed belongs to it.
  const text = (await device.exec(["cat", `${BOOT_SNAPSHOT}/journal`])).stdout;
  const journal = text === "" ? null : decodeJournal(new TextEncoder().encode(text), {
    schema: RECORD_SCHEMA,
    body: recordDecoder(paths),
    maxBytes: JOURNAL_MAX_BYTES,
  }).body.transaction;
  const state: JournalState = journal?.attempt.attemptId === attemptId ? `${journal.phase}/${journal.step}` : "none";
  return { journal: state, link };
}

/** The agent's unit is active: systemd says so only after READY. */
async function untilReady(lab: LabFleet, startMs: number): Promise<number> {
  await waitUntil(
    "the agent to be READY",
    async () => await lab.device.property("fleet-agent.service", "ActiveState") === "active",
    240_000 * lab.kind.patience,
    lab.kind.lookIntervalMs,
  );
  return performance.now() - startMs;
}
