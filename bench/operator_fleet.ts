/**
 * The operator's inside with a fleet of any size, without a broker: what an event costs is then the operator's alone.
 *
 * @module
 */
import type { Device } from "../contracts/device_resource.ts";
import { BUCKETS } from "../contracts/buckets.ts";
import type { AgentRelease } from "../contracts/agent_release.ts";
import type { BusEntry } from "../lib/bus/port.ts";
import { silentLogger } from "../lib/log.ts";
import { deviceSpecGroups } from "../operator/groups/device_spec_groups.ts";
import type { DeviceBucket } from "../operator/reconcile/bus_documents.ts";
import { DeviceReconciler } from "../operator/reconcile/device_reconciler.ts";
import { FleetFeeds } from "../operator/reconcile/fleet_feeds.ts";
import { FleetView } from "../operator/reconcile/fleet_view.ts";
import type { FleetWrites } from "../operator/reconcile/fleet_writes.ts";
import { Interner } from "../operator/reconcile/interner.ts";
import { ReleaseReconciler } from "../operator/reconcile/release_reconciler.ts";
import { WriteThrottle } from "../operator/runtime/write_throttle.ts";

const ENCODER = new TextEncoder();
const BOOT_ID = "b6d3a5ad-4b63-4d0e-9d3f-2f6a3d1c9b11";
const START_MS = Date.UTC(2026, 5, 1);
const RELEASES = 5;
const PHASES = ["preparing", "stopping", "starting", "complete"] as const;

/** Milliseconds in an instant, as the documents of a real device have them. */
const at = (ms: number) => new Date(ms).toISOString();

function bytes(document: unknown): Uint8Array {
  return ENCODER.encode(JSON.stringify(document));
}

/** A hexadecimal digest that no two numbers share. */
function digest(number: number): string {
  return number.toString(16).padStart(64, "a");
}

function release(index: number): AgentRelease {
  return {
    apiVersion: "fleet.nationtech.io/v1alpha1",
    kind: "AgentRelease",
    metadata: {
      name: `release-${index}`,
      labels: {},
      uid: crypto.randomUUID(),
      resourceVersion: `r${index}`,
      generation: 1,
      creationTimestamp: at(START_MS),
    },
    spec: {
      version: `1.${index}.0`,
      artifacts: [{
        arch: "x86_64",
        form: "script",
        url: `https://artifacts.example/fleet-agent-v1.${index}.0`,
        sha256: digest(index),
        maxBytes: 1_000_000,
      }],
      revision: 1,
      paused: true,
      allowedGroups: ["edge"],
      targetSelector: {},
      priority: index,
    },
  };
}

/** A fleet whose devices are all in one group, under {@link RELEASES} releases. */
export class OperatorFleet {
  readonly size: number;
  readonly view = new FleetView();
  readonly #interner = new Interner();
  readonly #feeds: FleetFeeds;
  readonly #devices: DeviceReconciler;
  readonly #releases: ReleaseReconciler;
  readonly #again: string[] = [];
  readonly #releasesAgain = new Set<string>();
  #revision = 0;
  #nowMs = START_MS;
  #cursor = 0;

  private constructor(size: number) {
    this.size = size;
    const writes = this.#writes();
    const throttle = new WriteThrottle(0);
    const time = { nowMs: () => this.#nowMs, watchedSinceMs: START_MS };
    this.#feeds = new FleetFeeds({
      view: this.view,
      interner: this.#interner,
      look: {
        device: (id) => this.#again.push(id),
        deviceLater: (id) => this.#again.push(id),
        placement: () => {},
        release: (name) => this.#releasesAgain.add(name),
        releaseLater: () => {},
      },
      log: silentLogger,
    });
    this.#devices = new DeviceReconciler({
      view: this.view,
      store: { get: () => Promise.resolve(null) },
      bucket: () => Promise.reject(new Error("nothing is read")),
      writes,
      groups: deviceSpecGroups,
      time,
      throttle,
      // Nobody falls silent here, however long it takes.
      bounds: { heartbeatIntervalMs: 1, staleAfterMs: 1e12, lostAfterMs: 1e12 },
      interner: this.#interner,
      onRelease: (name) => this.#releasesAgain.add(name),
      onPlacement: () => {},
      log: silentLogger,
    });
    this.#releases = new ReleaseReconciler({ view: this.view, writes, time, throttle });
  }

  /** A fleet at rest: every document read, every status written. */
  static async of(size: number): Promise<OperatorFleet> {
    const fleet = new OperatorFleet(size);
    for (let index = 0; index < RELEASES; index++) {
      fleet.#feeds.takeRelease({ kind: "put", resource: release(index) });
    }
    for (let index = 0; index < size; index++) fleet.#add(index);
    await fleet.#settle();
    return fleet;
  }

  /** What is written is what the store would give back. */
  #writes(): FleetWrites {
    const version = () => `w${++this.#revision}`;
    const stored = <T extends { readonly metadata: object }>(resource: T, status: unknown): T => ({
      ...resource,
      metadata: { ...resource.metadata, resourceVersion: version() },
      status,
    });
    const nothing = () => Promise.reject(new Error("nothing but statuses is written"));
    return {
      observing: false,
      createDevice: nothing,
      writeAttempt: nothing,
      withdrawAttempt: nothing,
      writeDeviceStatus: (device, status) => Promise.resolve({ ok: true, resource: stored(device, status) }),
      writeReleaseStatus: (target, status) => Promise.resolve({ ok: true, resource: stored(target, status) }),
    };
  }

  #add(index: number): void {
    const id = `device-${index}`;
    const device: Device = {
      apiVersion: "fleet.nationtech.io/v1alpha1",
      kind: "Device",
      metadata: {
        name: id,
        labels: { "device-id": id, site: `site-${index % 500}` },
        uid: crypto.randomUUID(),
        resourceVersion: `c${index}`,
        generation: 1,
        creationTimestamp: at(START_MS + index),
      },
      spec: { groups: ["edge"] },
    };
    this.#feeds.takeDevice({ kind: "put", resource: device });
    this.#put(BUCKETS.deviceInfo, id, {
      schema: 1,
      deviceId: id,
      agentVersion: "1.0.0",
      arch: "x86_64",
      form: "script",
      os: { name: "Debian GNU/Linux", version: "12", kernel: `6.1.0-${index % 20}` },
      updater: { version: "1.0.0", capabilities: ["https"] },
      step: "ready",
      bootId: BOOT_ID,
      startedAt: at(this.#nowMs),
      updatedAt: at(this.#nowMs),
    });
    this.#heartbeat(id);
    this.#phase(id, "complete", index);
  }

  #put(bucket: DeviceBucket, id: string, document: unknown): void {
    const entry: BusEntry = {
      key: id,
      value: bytes(document),
      revision: ++this.#revision,
      receivedAtMs: ++this.#nowMs,
      deleted: false,
    };
    this.#feeds.takeDocument(bucket, { kind: "entry", entry });
  }

  #heartbeat(id: string): void {
    this.#put(BUCKETS.deviceHeartbeat, id, {
      schema: 1,
      deviceId: id,
      agentVersion: "1.0.0",
      bootId: BOOT_ID,
      sequence: this.#revision + 1,
      at: at(this.#nowMs),
      uptimeMs: this.#revision,
      vitals: { freeBytes: { "/usr": 3_328_599_654, "/var": 12_884_901_888 }, clockSkewMs: 12, restarts: 1 },
    });
  }

  #phase(id: string, phase: (typeof PHASES)[number], attempt: number): void {
    this.#put(BUCKETS.upgradeStatus, id, {
      schema: 1,
      attemptId: `00000000-0000-4000-8000-${String(attempt).padStart(12, "0")}`,
      deviceId: id,
      attemptDigest: digest(attempt),
      targetVersion: "1.0.0",
      artifactSha256: digest(1),
      releaseIdentity: digest(2),
      phase,
      startedAt: at(START_MS),
      updatedAt: at(this.#nowMs),
      transitions: PHASES.slice(0, PHASES.indexOf(phase) + 1).map((name) => ({ phase: name, at: at(START_MS) })),
    });
  }

  async #settle(): Promise<void> {
    for (let id = this.#again.pop(); id !== undefined; id = this.#again.pop()) await this.#devices.reconcile(id);
    for (const name of this.#releasesAgain) await this.#releases.reconcile(name);
    this.#releasesAgain.clear();
  }

  /** The devices take turns, so that caches do not flatter a large fleet. */
  #next(): number {
    // A prime step far from the size visits all of them in no order of memory.
    this.#cursor = (this.#cursor + 7_919) % this.size;
    return this.#cursor;
  }

  /** One heartbeat of one device. */
  heartbeatEvent(): void {
    this.#heartbeat(`device-${this.#next()}`);
    if (this.#again.length > 0) throw new Error("A heartbeat that says nothing new asked for a look");
  }

  /** One phase of one device: decoded, planned, its status and its release's figures written. */
  async phaseEvent(): Promise<void> {
    const index = this.#next();
    const phase = PHASES[this.#revision % PHASES.length] ?? "complete";
    this.#phase(`device-${index}`, phase, this.#revision);
    if (this.#again.length !== 1) throw new Error(`One event asked for ${this.#again.length} looks`);
    await this.#settle();
  }

  /** Looks at one device to which nothing has happened. */
  async idleLook(): Promise<void> {
    this.#again.push(`device-${this.#next()}`);
    await this.#settle();
  }
}
