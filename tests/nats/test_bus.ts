/**
 * A bus for tests: short times, and the requests that the port does not have.
 *
 * @module
 */
import { BusCore } from "../../lib/bus/bus_core.ts";
import { type BusBounds, type BusOptions, resolveBusOptions } from "../../lib/bus/bus_options.ts";
import { connectCore } from "../../lib/bus/connect_core.ts";
import { NatsBus } from "../../lib/bus/nats_bus.ts";
import { systemClock } from "../../lib/deadline.ts";
import type { NatsServer } from "./nats_server.ts";

/** Times that keep a fault test short and leave a loaded machine room. */
export const TEST_BOUNDS: Partial<BusBounds> = {
  connectTimeoutMs: 5_000,
  requestTimeoutMs: 5_000,
  reconnectMinMs: 20,
  reconnectMaxMs: 200,
  watchHeartbeatMs: 200,
};

/** A bus with the connection under it. */
export class TestBus extends NatsBus {
  readonly core: BusCore;

  constructor(core: BusCore) {
    super(core);
    this.core = core;
  }

  /** A request of the JetStream API that must succeed. */
  async rawRequest(subject: string, body: unknown): Promise<Record<string, unknown>> {
    return await this.core.apiCall(subject, body, `ask ${subject}`);
  }
}

/** Options for a server of {@link startNatsServer}. */
export function testBusOptions(server: Pick<NatsServer, "url">, changes: Partial<BusOptions> = {}): BusOptions {
  const { bounds, ...rest } = changes;
  return {
    servers: [server.url],
    name: "test",
    auth: { kind: "none" },
    ...rest,
    bounds: { ...TEST_BOUNDS, ...bounds },
  };
}

/** Connects. */
export async function openTestBus(
  server: Pick<NatsServer, "url">,
  changes: Partial<BusOptions> = {},
): Promise<TestBus> {
  const options = resolveBusOptions(testBusOptions(server, changes));
  return new TestBus(await connectCore(options, undefined, Number.POSITIVE_INFINITY, systemClock));
}
