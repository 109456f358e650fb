import { BUCKET_SPECS } from "../../contracts/buckets.ts";
import { MemoryBroker } from "../fakes/memory_bus.ts";
import { testResourceStore } from "./resource_store.ts";
import { embeddedWorld } from "./resource_store_world.ts";

testResourceStore("embedded store in memory", async () => {
  const bus = new MemoryBroker().connect();
  await bus.ensureBuckets(BUCKET_SPECS, 10, 1);
  return await embeddedWorld(bus, () => bus.close());
});
