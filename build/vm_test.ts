import { assert, assertEquals } from "@std/assert";
import { parseVmArgs } from "./vm.ts";

Deno.test("parseVmArgs() takes scenarios, systems, cuts and a seed, and has defaults for all of them", () => {
  const all = parseVmArgs([]);
  assert(typeof all !== "string");
  assertEquals([all.systems, all.cuts], [["debian-12"], 100]);
  assert(all.scenarios.includes("power-cuts"));
  assert(Number.isInteger(all.seed));
  const some = parseVmArgs(["--system", "debian-13", "--cuts", "7", "--seed", "42", "power-cuts"]);
  assert(typeof some !== "string");
  assertEquals([some.systems, some.cuts, some.seed, some.scenarios], [["debian-13"], 7, 42, ["power-cuts"]]);
});

Deno.test("parseVmArgs() says what is wrong", () => {
  assertEquals(parseVmArgs(["nothing"]), 'unknown scenario "nothing"; ./dev vm --list names them');
  assertEquals(parseVmArgs(["--system", "x"]), 'unknown system "x"; there are: debian-12, debian-13');
  assertEquals(parseVmArgs(["--cuts", "0"]), '--cuts: "0" is not an integer from 1 to 100000');
  assertEquals(parseVmArgs(["--cuts", "ten"]), '--cuts: "ten" is not an integer from 1 to 100000');
  assertEquals(parseVmArgs(["--seed", "4294967296"]), '--seed: "4294967296" is not an integer from 0 to 4294967295');
  const last = parseVmArgs(["--seed", "4294967295", "--cuts", "100000"]);
  assert(typeof last !== "string");
  assertEquals([last.seed, last.cuts], [4_294_967_295, 100_000]);
  assert(typeof parseVmArgs(["--odd"]) === "string");
});
