import { testGroupSources } from "./group_source.ts";
import { openMemoryBusWorld } from "./memory_bus_world.ts";

testGroupSources("memory", openMemoryBusWorld);
