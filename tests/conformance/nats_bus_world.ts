/**
 * The world of the conformance suites on a real `nats-server`.
 *
 * @module
 */
import { streamName } from "../../contracts/subjects.ts";
import { startNatsServer } from "../nats/nats_server.ts";
import { openTestBus } from "../nats/test_bus.ts";
import { waitUntil } from "../nats/wait_until.ts";
import type { BusWorld } from "./bus_world.ts";

/** Starts a server and connects to it. */
export async function openNatsBusWorld(): Promise<BusWorld> {
  const server = await startNatsServer();
  const bus = await openTestBus(server);
  const behind = await openTestBus(server);
  let connected = true;
  bus.onStatus(({ kind }) => {
    if (kind === "connected" || kind === "disconnected") connected = kind === "connected";
  });
  return {
    bus,
    async deleteBucket(name) {
      await behind.rawRequest(`$JS.API.STREAM.DELETE.${streamName(name)}`, null);
    },
    async beginOutage() {
      await server.kill9();
      await waitUntil("the loss", () => !connected);
    },
    async endOutage() {
      await server.restart();
      await waitUntil("the reconnection", () => connected);
    },
    async close() {
      await bus.close();
      await behind.close();
      await server.stop();
    },
  };
}
