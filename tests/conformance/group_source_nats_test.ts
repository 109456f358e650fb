import { testGroupSources } from "./group_source.ts";
import { openNatsBusWorld } from "./nats_bus_world.ts";

testGroupSources("NATS", openNatsBusWorld);
