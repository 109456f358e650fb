/**
 * The world of the conformance suites in memory.
 *
 * @module
 */
import { MemoryBroker } from "../fakes/memory_bus.ts";
import type { BusWorld } from "./bus_world.ts";

/** Makes a broker and connects to it. */
export function openMemoryBusWorld(): Promise<BusWorld> {
  const broker = new MemoryBroker();
  const bus = broker.connect();
  return Promise.resolve({
    bus,
    deleteBucket: (name) => Promise.resolve(broker.deleteBucket(name)),
    beginOutage: () => Promise.resolve(bus.disconnect()),
    endOutage: () => Promise.resolve(bus.reconnect()),
    close: () => bus.close(),
  });
}
