import { assert, assertEquals, assertThrows } from "@std/assert";
import { parseProcessMemory, readMemory } from "./process_memory.ts";

Deno.test("parseProcessMemory() reads what is resident and the peak, in MiB", () => {
  const status = "Name:\tdeno\nVmPeak:\t  99999 kB\nVmHWM:\t   81920 kB\nVmRSS:\t   51200 kB\nThreads:\t7\n";
  assertEquals(parseProcessMemory(status), { residentMib: 50, peakMib: 80 });
  assertThrows(() => parseProcessMemory("Name:\tdeno\n"));
});

Deno.test("readMemory() reads this process", () => {
  const { residentMib, peakMib } = readMemory();
  assert(residentMib > 1 && peakMib >= residentMib, `${residentMib} of ${peakMib}`);
});
