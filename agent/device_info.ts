/**
 * Publishes who the device is, what its updater can do and where its start stands; again whenever one of them changes,
 * and when the document was lost (DESIGN 6).
 *
 * @module
 */
import { deviceKey } from "../contracts/buckets.ts";
import { canonicalJson } from "../contracts/canonical_json.ts";
import { DEVICE_SCHEMA, type DeviceInfo, deviceInfo } from "../contracts/device.ts";
import { DEVICE_DOCUMENT_MAX_BYTES } from "../contracts/limits.ts";
import type { ReadinessStep } from "../contracts/readiness.ts";
import type { KvBucket } from "../lib/bus/port.ts";
import type { Clock } from "../lib/deadline.ts";
import type { DeviceFacts } from "./device_facts.ts";
import { OwnDocument } from "./own_document.ts";

/** What a device info says that may change. */
export interface DeviceInfoState {
  readonly step: ReadinessStep;
  readonly blocked?: string | undefined;
  readonly updater?: DeviceInfo["updater"];
}

/** What the publisher works with. */
export interface DeviceInfoOptions {
  readonly deviceId: string;
  readonly facts: DeviceFacts;
  readonly bucket: KvBucket;
  readonly clock: Clock;
  readonly rereadMs: number;
}

/** Publishes the device info. */
export class DeviceInfoPublisher {
  readonly #options: DeviceInfoOptions;
  readonly #document: OwnDocument<DeviceInfo>;
  readonly #startedAt: string;

  constructor(options: DeviceInfoOptions) {
    const { bucket, clock, deviceId, rereadMs } = options;
    this.#options = options;
    this.#startedAt = new Date(clock.nowMs()).toISOString();
    this.#document = new OwnDocument({
      bucket,
      key: deviceKey(deviceId),
      decoder: deviceInfo,
      maxBytes: DEVICE_DOCUMENT_MAX_BYTES,
      rereadMs,
      clock,
    });
  }

  /** Makes the next call look at what stands in the bucket. */
  forget(): void {
    this.#document.forget();
  }

  /**
   * Publishes a state unless it stands there already.
   *
   * @returns false when the document changed under the write; try again
   * @throws {FleetError} `E_BUS_*`
   */
  async publish(state: DeviceInfoState): Promise<boolean> {
    const present = await this.#document.read();
    const info = this.#info(state, present?.updatedAt ?? "");
    // The time of the change is no change.
    if (present !== null && canonicalJson(present) === canonicalJson(info)) return true;
    return await this.#document.write({ ...info, updatedAt: new Date(this.#options.clock.nowMs()).toISOString() });
  }

  #info({ step, blocked, updater }: DeviceInfoState, updatedAt: string): DeviceInfo {
    const { deviceId, facts } = this.#options;
    return {
      schema: DEVICE_SCHEMA,
      deviceId,
      agentVersion: facts.version,
      form: facts.form,
      arch: facts.arch,
      os: facts.os,
      ...(updater === undefined ? {} : { updater }),
      step,
      ...(blocked === undefined ? {} : { blocked }),
      bootId: facts.bootId,
      startedAt: this.#startedAt,
      updatedAt,
    };
  }
}
