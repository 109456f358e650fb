import { assert, assertEquals } from "@std/assert";
import { currentBootId, decodeStat, markedProcesses, processInfo } from "./process_table.ts";

const TAIL = "1 77 77 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 123456 2469888 200 18446744073709551615";

Deno.test("decodeStat() reads past any command name", () => {
  for (const name of ["sh", "a b", "x) S 9 9", ") Z 1 (", ""]) {
    assertEquals(decodeStat(77, `77 (${name}) S ${TAIL}`), { pid: 77, groupId: 77, startTicks: 123456, ended: false });
  }
});

Deno.test("decodeStat() tells what has ended", () => {
  assertEquals(decodeStat(77, `77 (sh) Z ${TAIL}`)?.ended, true);
  assertEquals(decodeStat(77, `77 (sh) X ${TAIL}`)?.ended, true);
  assertEquals(decodeStat(77, `77 (sh) D ${TAIL}`)?.ended, false);
});

Deno.test("decodeStat() takes nothing else", () => {
  for (const text of ["", "77 (sh)", "77 (sh) S", "77 (sh) S 1 x 2"]) assertEquals(decodeStat(77, text), null);
});

Deno.test("the process table knows this process, and no process without an id", () => {
  const own = processInfo(Deno.pid);
  assertEquals([own?.pid, own?.ended], [Deno.pid, false]);
  assert((own?.startTicks ?? 0) > 0);
  assertEquals(processInfo(0), null);
  assertEquals(markedProcesses("HARMONY_FLEET_NOBODY_HAS_THIS", "x"), []);
  assertEquals(currentBootId()?.length, 36);
});
