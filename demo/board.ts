/**
 * Follows all devices: through NATS, as the operator does, and at their updaters, because a device has nobody to speak
 * for it in NATS while its agent is being replaced.
 *
 * @module
 */
import { type AgentUpgradeStatus, agentUpgradeStatus, isTerminalPhase } from "../contracts/agent_upgrade.ts";
import { type BucketName, BUCKETS } from "../contracts/buckets.ts";
import { decodeBytes, type Decoder } from "../contracts/codec.ts";
import { deviceInfo } from "../contracts/device.ts";
import { DEVICE_DOCUMENT_MAX_BYTES, STATUS_MAX_BYTES } from "../contracts/limits.ts";
import type { Fleet } from "../tests/fleet/fleet.ts";
import type { FleetDevice } from "../tests/fleet/fleet_device.ts";
import {
  changedRows,
  type DeviceChange,
  type DeviceNews,
  deviceRow,
  noNews,
  withInfo,
  withStatus,
} from "./show/device_news.ts";
import type { Screen } from "./show/screen.ts";

/** Between two looks at an updater that works, in ms. */
const LOOK_INTERVAL_MS = 300;

/** Follows the devices and shows every change, until it is closed. */
export class Board {
  readonly #fleet: Fleet;
  readonly #screen: Screen;
  readonly #news: Map<string, DeviceNews>;
  #held: DeviceChange[] | null = null;
  readonly #ending = new AbortController();
  readonly #running: Promise<void>[];

  /**
   * @param fleet The fleet
   * @param screen Where changes are shown
   */
  constructor(fleet: Fleet, screen: Screen) {
    this.#fleet = fleet;
    this.#screen = screen;
    this.#news = new Map(fleet.devices.map(({ id }) => [id, noNews(id)]));
    this.#running = [
      this.#watch(BUCKETS.deviceInfo, deviceInfo, DEVICE_DOCUMENT_MAX_BYTES, withInfo),
      this.#watch(BUCKETS.upgradeStatus, agentUpgradeStatus, STATUS_MAX_BYTES, withStatus),
      ...fleet.devices.map((device) => this.#lookAt(device)),
    ];
    this.#show([]);
  }

  /** Says what the demo does to a device; null when it is over. */
  note(id: string, note: string | null): void {
    this.#change(id, (news) => ({ ...news, note }));
  }

  /** Takes a status that the demo has seen itself, sooner than the board would look. */
  saw(id: string, status: AgentUpgradeStatus): void {
    this.#change(id, (news) => withStatus(news, status));
  }

  /** Keeps changes back until {@link release}, so that they do not come between a command and what it prints. */
  hold(): void {
    this.#held ??= [];
  }

  /** Ends {@link hold}. */
  release(): void {
    const changes = this.#held ?? [];
    this.#held = null;
    if (changes.length > 0) this.#show(changes);
  }

  /** Stops following. */
  async close(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#running);
  }

  async #watch<T>(
    name: BucketName,
    decoder: Decoder<T>,
    maxBytes: number,
    take: (news: DeviceNews, document: T) => DeviceNews,
  ): Promise<void> {
    const bucket = await this.#fleet.bus.bucket(name);
    for await (const event of bucket.watch(">", this.#ending.signal)) {
      if (event.kind !== "entry" || event.entry.deleted) continue;
      const { key, value } = event.entry;
      this.#change(key, (news) => take(news, decodeBytes(decoder, value, maxBytes)));
    }
  }

  async #lookAt(device: FleetDevice): Promise<void> {
    while (!this.#ending.signal.aborted) {
      const status = this.#news.get(device.id)?.status ?? null;
      if (status !== null && !isTerminalPhase(status.phase)) {
        const seen = (await device.state())?.transaction?.status;
        if (seen !== undefined) this.#change(device.id, (news) => withStatus(news, seen));
      }
      await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const onEnd = () => resolve();
    const timer = setTimeout(onEnd, LOOK_INTERVAL_MS);
    this.#ending.signal.addEventListener("abort", onEnd, { once: true });
    await promise;
    clearTimeout(timer);
    this.#ending.signal.removeEventListener("abort", onEnd);
  }

  #change(id: string, change: (news: DeviceNews) => DeviceNews): void {
    const before = this.#news.get(id);
    if (before === undefined) return;
    const after = change(before);
    this.#news.set(id, after);
    const atMs = performance.now();
    if (after !== before) this.#show(changedRows(before, after).map((row) => ({ row, atMs })));
  }

  #show(changes: readonly DeviceChange[]): void {
    this.#held?.push(...changes);
    this.#screen.devices([...this.#news.values()].map(deviceRow), this.#held === null ? changes : []);
  }
}
