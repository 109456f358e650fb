/**
 * An {@link OperatorWorld} on a real `nats-server`.
 *
 * @module
 */
import { connectBus } from "../../../lib/bus/connect.ts";
import { type NatsServer, startNatsServer } from "../../nats/nats_server.ts";
import { OperatorWorld } from "./operator_world.ts";

/** Short pauses, so that an outage in a test is over soon after it ends. */
const BOUNDS = { reconnectMinMs: 20, reconnectMaxMs: 100, requestTimeoutMs: 2_000 };

/**
 * Registers a test with a server and a world of its own.
 *
 * @param name What it shows
 * @param body The test
 */
export function testOnNats(name: string, body: (world: OperatorWorld, server: NatsServer) => Promise<void>): void {
  Deno.test(`operator on NATS: ${name}`, async () => {
    const server = await startNatsServer();
    const connect = () =>
      connectBus({ servers: [server.url], name: "operator-test", auth: { kind: "none" }, bounds: BOUNDS });
    const world = await OperatorWorld.open({ connect, close: () => server.stop() });
    try {
      await body(world, server);
    } finally {
      await world.close();
    }
  });
}
