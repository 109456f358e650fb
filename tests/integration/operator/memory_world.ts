/**
 * An {@link OperatorWorld} over a broker in memory.
 *
 * @module
 */
import { MemoryBroker } from "../../fakes/memory_bus.ts";
import { OperatorWorld } from "./operator_world.ts";

/** Runs a test in a world of its own, and ends the world. */
export async function withMemoryWorld(
  body: (world: OperatorWorld, broker: MemoryBroker) => Promise<void>,
): Promise<void> {
  const broker = new MemoryBroker();
  const world = await OperatorWorld.open({
    connect: () => Promise.resolve(broker.connect()),
    close: () => Promise.resolve(),
  });
  try {
    await body(world, broker);
  } finally {
    await world.close();
  }
}
