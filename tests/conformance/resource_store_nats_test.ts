import { BUCKET_SPECS } from "../../contracts/buckets.ts";
import { connectBus } from "../../lib/bus/connect.ts";
import { startNatsServer } from "../nats/nats_server.ts";
import { testResourceStore } from "./resource_store.ts";
import { embeddedWorld } from "./resource_store_world.ts";

testResourceStore("embedded store on NATS", async () => {
  const server = await startNatsServer();
  const bus = await connectBus({ servers: [server.url], name: "resource-store-test", auth: { kind: "none" } });
  await bus.ensureBuckets(BUCKET_SPECS, 10, 1);
  return await embeddedWorld(bus, async () => {
    await bus.close();
    await server.stop();
  });
});
