/**
 * Which architecture a program is for, from its own header.
 *
 * @module
 */

import type { Architecture } from "../contracts/formats.ts";

/** Bytes of the header that hold class, byte order and machine (elf(5)). */
const HEAD_BYTES = 20;
const MACHINES: ReadonlyMap<number, Architecture> = new Map([[62, "x86_64"], [183, "aarch64"]]);

/**
 * The architecture of a 64-bit little-endian ELF program.
 *
 * @param path The program
 * @throws {Error} when the file is none, or for another machine
 */
export async function elfArchitecture(path: string): Promise<Architecture> {
  const head = new Uint8Array(HEAD_BYTES);
  using file = await Deno.open(path, { read: true });
  const length = await file.read(head) ?? 0;
  const isElf64 = length === HEAD_BYTES && head.subarray(0, 6).join() === "127,69,76,70,2,1";
  const arch = MACHINES.get(new DataView(head.buffer).getUint16(18, true));
  if (!isElf64 || arch === undefined) throw new Error(`Cannot use ${path}: not a program for x86_64 or aarch64`);
  return arch;
}
