/**
 * The buckets that the agent needs; a device binds them and never makes them (DESIGN 4). The heartbeats' is not among
 * them: it is in memory, and a broker that restarted must not keep agents from READY until an operator comes.
 *
 * @module
 */
import { BUCKETS } from "../../contracts/buckets.ts";
import type { Bus, KvBucket } from "../../lib/bus/port.ts";

/** The buckets that the agent needs. */
export interface AgentBuckets {
  readonly desiredState: KvBucket;
  readonly deviceInfo: KvBucket;
  readonly upgradeIntent: KvBucket;
  readonly upgradeStatus: KvBucket;
}

/**
 * Binds them all.
 *
 * @param bus The connection
 * @throws {FleetError} `E_BUS_NO_BUCKET` for one that does not exist or may not be read; `E_BUS_*`
 */
export async function openBuckets(bus: Pick<Bus, "bucket">): Promise<AgentBuckets> {
  const [desiredState, deviceInfo, upgradeIntent, upgradeStatus] = await Promise.all([
    bus.bucket(BUCKETS.desiredState),
    bus.bucket(BUCKETS.deviceInfo),
    bus.bucket(BUCKETS.upgradeIntent),
    bus.bucket(BUCKETS.upgradeStatus),
  ]);
  return { desiredState, deviceInfo, upgradeIntent, upgradeStatus };
}
