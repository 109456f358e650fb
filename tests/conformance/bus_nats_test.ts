import { testBus } from "./bus.ts";
import { openNatsBusWorld } from "./nats_bus_world.ts";

testBus("bus over NATS", openNatsBusWorld);
