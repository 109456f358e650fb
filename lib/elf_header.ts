/**
 * What the header of a program says (elf(5)). Pure.
 *
 * @module
 */
import type { Architecture } from "../contracts/formats.ts";

/** Bytes of the header that hold class, byte order and machine. */
export const ELF_HEAD_BYTES = 20;
const MACHINES: ReadonlyMap<number, Architecture> = new Map([[62, "x86_64"], [183, "aarch64"]]);

/**
 * The architecture of a 64-bit little-endian program; null for what is none, or for another machine.
 *
 * @param head Its first bytes
 */
export function elfArchitectureOf(head: Uint8Array): Architecture | null {
  if (head.byteLength < ELF_HEAD_BYTES || head.subarray(0, 6).join() !== "127,69,76,70,2,1") return null;
  return MACHINES.get(new DataView(head.buffer, head.byteOffset).getUint16(18, true)) ?? null;
}
