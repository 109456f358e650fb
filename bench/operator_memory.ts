/**
 * Prints how many MiB of heap the operator's view of a fleet takes.
 *
 * @module
 */
import { OperatorFleet } from "./operator_fleet.ts";

const BYTES_PER_MIB = 1_024 * 1_024;

function heapMib(): number {
  // Exposed by a flag of V8; without it the figure would be that of the garbage as well.
  const collect: unknown = Reflect.get(globalThis, "gc");
  if (typeof collect !== "function") throw new Error("Cannot measure the heap: run with --v8-flags=--expose-gc");
  collect();
  return Deno.memoryUsage().heapUsed / BYTES_PER_MIB;
}

const size = Number(Deno.args[0]);
if (!Number.isSafeInteger(size) || size < 1) throw new Error("usage: operator_memory.ts DEVICES");
await OperatorFleet.of(1);
const before = heapMib();
const fleet = await OperatorFleet.of(size);
const after = heapMib();
if (fleet.view.size !== size) throw new Error(`The view has ${fleet.view.size} devices, not ${size}`);
await Deno.stdout.write(new TextEncoder().encode(`${(after - before).toFixed(1)}\n`));
