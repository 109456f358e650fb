/**
 * A device as the broker sees it: it publishes what an agent publishes and takes its intent as an agent does, by a
 * script instead of by an upgrade.
 *
 * @module
 */
import {
  type AgentUpgradeAttempt,
  agentUpgradeAttempt,
  type AgentUpgradeStatus,
} from "../../contracts/agent_upgrade.ts";
import type { UpgradePhase } from "../../contracts/agent_upgrade.ts";
import { BUCKETS } from "../../contracts/buckets.ts";
import { decodeBytes } from "../../contracts/codec.ts";
import type { DeviceInfo, Heartbeat } from "../../contracts/device.ts";
import type { Bus, BusEntry } from "../../lib/bus/port.ts";

/** How an attempt ends. */
export type ScriptedOutcome = "complete" | "failed" | "rolled-back" | "rollback-failed" | "hang";

/** What a device is, and what it does. */
export interface DeviceScript {
  readonly version?: string;
  readonly arch?: DeviceInfo["arch"];
  readonly form?: DeviceInfo["form"];
  /** Null for an updater that cannot be reached. */
  readonly capabilities?: readonly string[] | null;
  /** Default `complete`. */
  readonly outcome?: (attempt: AgentUpgradeAttempt) => ScriptedOutcome;
  /** Pause between phases, in ms. Default 5 */
  readonly phaseMs?: number;
  /** Pause between heartbeats, in ms. Default 100 */
  readonly heartbeatMs?: number;
}

const PHASES: Readonly<Record<ScriptedOutcome, readonly UpgradePhase[]>> = {
  complete: ["preparing", "stopping", "starting", "complete"],
  failed: ["preparing", "failed"],
  "rolled-back": ["preparing", "stopping", "starting", "rolling-back", "failed"],
  "rollback-failed": ["preparing", "stopping", "starting", "rolling-back", "rollback-failed"],
  hang: ["preparing", "stopping", "starting"],
};

const BOOT_ID = "b6d3a5ad-4b63-4d0e-9d3f-2f6a3d1c9b11";
const encode = (document: unknown) => new TextEncoder().encode(JSON.stringify(document));
const now = () => new Date().toISOString();

/** A device that follows a script. */
export class ScriptedDevice {
  readonly id: string;
  /** Attempts that it ran, in order; what an agent would call the journal. */
  readonly executed: AgentUpgradeAttempt[] = [];
  /** Intents that it saw, in order. */
  readonly seen: string[] = [];
  version: string;
  #status: AgentUpgradeStatus | null = null;
  readonly #bus: Bus;
  readonly #script: DeviceScript;
  #sequence = 0;
  #newest: AgentUpgradeAttempt | null = null;
  #running: Promise<void> | null = null;

  constructor(bus: Bus, id: string, script: DeviceScript = {}) {
    this.#bus = bus;
    this.id = id;
    this.#script = script;
    this.version = script.version ?? "1.0.0";
  }

  /** Follows the script until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await this.publishInfo();
    await Promise.all([this.#beat(signal), this.#follow(signal)]);
    await this.#running;
  }

  /** Publishes who it is. */
  async publishInfo(): Promise<void> {
    const { arch = "x86_64", capabilities = ["https"], form = "script" } = this.#script;
    const info: DeviceInfo = {
      schema: 1,
      deviceId: this.id,
      agentVersion: this.version,
      arch,
      form,
      os: { name: "Debian GNU/Linux", version: "12", kernel: "6.1.0-18" },
      ...(capabilities === null ? {} : { updater: { version: "1.0.0", capabilities: [...capabilities] } }),
      step: "ready",
      bootId: BOOT_ID,
      startedAt: now(),
      updatedAt: now(),
    };
    await this.#put(BUCKETS.deviceInfo, info);
  }

  /** Sends one heartbeat. */
  async heartbeat(changes: Partial<Heartbeat> = {}): Promise<void> {
    const beat: Heartbeat = {
      schema: 1,
      deviceId: this.id,
      agentVersion: this.version,
      bootId: BOOT_ID,
      sequence: ++this.#sequence,
      at: now(),
      uptimeMs: this.#sequence,
      vitals: { freeBytes: { "/var": 1_000_000_000 } },
      ...changes,
    };
    await this.#put(BUCKETS.deviceHeartbeat, beat);
  }

  /** Puts another version on the device by other means than an attempt: its updater knows of none. */
  async reflash(version: string): Promise<void> {
    this.version = version;
    await this.publishInfo();
  }

  /** Publishes a phase of an attempt. */
  async publishPhase(attempt: AgentUpgradeAttempt, phase: UpgradePhase, error?: string): Promise<void> {
    const { status } = { status: this.#status?.attemptId === attempt.attemptId ? this.#status : null };
    const next: AgentUpgradeStatus = {
      schema: 1,
      attemptId: attempt.attemptId,
      deviceId: this.id,
      targetVersion: attempt.targetVersion,
      artifactSha256: attempt.artifact.sha256,
      ...(attempt.releaseIdentity === undefined ? {} : { releaseIdentity: attempt.releaseIdentity }),
      phase,
      ...(error === undefined ? {} : { error, failureClass: "version", reason: "SelfTestFailed" }),
      startedAt: status?.startedAt ?? now(),
      updatedAt: now(),
      transitions: [...status?.transitions ?? [], { phase, at: now() }],
    };
    this.#status = next;
    await this.#put(BUCKETS.upgradeStatus, next);
  }

  async #put(name: typeof BUCKETS[keyof typeof BUCKETS], document: unknown): Promise<void> {
    await (await this.#bus.bucket(name)).put(this.id, encode(document));
  }

  async #beat(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // While the broker is away a heartbeat is lost, as it is in a real agent.
      await this.heartbeat().catch(() => {});
      await pause(this.#script.heartbeatMs ?? 100, signal);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const intents = await this.#bus.bucket(BUCKETS.upgradeIntent);
    for await (const event of intents.watch(this.id, signal)) {
      if (event.kind === "entry" && !event.entry.deleted) this.#take(event.entry);
    }
  }

  #take(entry: BusEntry): void {
    let attempt: AgentUpgradeAttempt;
    try {
      attempt = decodeBytes(agentUpgradeAttempt, entry.value, 100_000);
    } catch {
      return;
    }
    this.seen.push(attempt.attemptId);
    this.#newest = attempt;
    this.#running ??= this.#work().finally(() => this.#running = null);
  }

  /** Busy is not an outcome: the newest intent is taken when the one before it has ended. */
  async #work(): Promise<void> {
    for (let attempt = this.#newest; attempt !== null; attempt = this.#newest) {
      this.#newest = null;
      if (this.executed.some(({ attemptId }) => attemptId === attempt?.attemptId)) continue;
      this.executed.push(attempt);
      await this.#execute(attempt);
    }
  }

  async #execute(attempt: AgentUpgradeAttempt): Promise<void> {
    const outcome = this.#script.outcome?.(attempt) ?? "complete";
    const before = this.version;
    for (const phase of PHASES[outcome]) {
      if (phase === "starting" || phase === "rolling-back") {
        this.version = phase === "starting" ? attempt.targetVersion : before;
        await persist(() => this.publishInfo());
      }
      const error = phase === "failed" || phase === "rollback-failed" ? `${attempt.targetVersion} is bad` : undefined;
      await persist(() => this.publishPhase(attempt, phase, error));
      await pause(this.#script.phaseMs ?? 5);
    }
  }
}

/** Tries until the broker takes it, as a mirror does that looks again at each poll. */
async function persist(work: () => Promise<void>): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    try {
      return await work();
    } catch {
      await pause(20);
    }
  }
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const onAbort = () => {
      clearTimeout(handle);
      resolve();
    };
    const handle = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
