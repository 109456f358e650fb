import { assert, assertEquals } from "@std/assert";
import { parseLabArgs } from "./lab.ts";

Deno.test("parseLabArgs() takes scenarios and systems by name, and all of them without any", () => {
  const all = parseLabArgs([]);
  assert(typeof all !== "string");
  assertEquals(all.systems, ["debian-12", "debian-13"]);
  assert(all.scenarios.length > 20);
  const some = parseLabArgs(["--system", "debian-13", "good-upgrade"]);
  assert(typeof some !== "string");
  assertEquals([some.systems, some.scenarios], [["debian-13"], ["good-upgrade"]]);
});

Deno.test("parseLabArgs() says what is wrong", () => {
  assertEquals(parseLabArgs(["nothing"]), 'unknown scenario "nothing"; ./dev lab --list names them');
  assertEquals(parseLabArgs(["--system", "x"]), 'unknown system "x"; there are: debian-12, debian-13');
  assert(typeof parseLabArgs(["--odd"]) === "string");
});
