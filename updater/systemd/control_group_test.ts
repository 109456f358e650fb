import { assertEquals } from "@std/assert";
import { hasProcesses, isPopulated } from "./control_group.ts";

Deno.test("isPopulated() reads cgroup.events", () => {
  assertEquals([isPopulated("populated 1\nfrozen 0\n"), isPopulated("populated 0\nfrozen 0\n")], [true, false]);
  assertEquals(isPopulated(""), false);
});

Deno.test("hasProcesses() of a group that is gone is false", async () => {
  assertEquals(await hasProcesses("/system.slice/no-such-unit.service"), false);
});
