/**
 * Which architecture a program is for, from its own header.
 *
 * @module
 */

import type { Architecture } from "../contracts/formats.ts";
import { ELF_HEAD_BYTES, elfArchitectureOf } from "../lib/elf_header.ts";

/**
 * The architecture of a 64-bit little-endian ELF program.
 *
 * @param path The program
 * @throws {Error} when the file is none, or for another machine
 */
export async function elfArchitecture(path: string): Promise<Architecture> {
  const head = new Uint8Array(ELF_HEAD_BYTES);
  using file = await Deno.open(path, { read: true });
  const length = await file.read(head) ?? 0;
  const arch = elfArchitectureOf(head.subarray(0, length));
  if (arch === null) throw new Error(`Cannot use ${path}: not a program for x86_64 or aarch64`);
  return arch;
}
