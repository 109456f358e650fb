/**
 * Whether this machine can run a file. The kernel would say so too, but the C library then hands the file to a shell,
 * which makes of another machine's program a shell's complaint about its bytes.
 *
 * @module
 */
import type { Architecture } from "../../contracts/formats.ts";

const HEAD_BYTES = 20;
/** `e_machine` of an ELF header. */
const MACHINES: ReadonlyMap<number, string> = new Map([[62, "x86_64"], [183, "aarch64"], [3, "i386"], [40, "arm"]]);

/**
 * Looks at the first bytes of a program.
 *
 * @param head At least the first 20 bytes, or the whole file if it is shorter
 * @param arch The architecture of this machine
 * @returns what is wrong, or undefined
 */
export function formatProblem(head: Uint8Array, arch: Architecture): string | undefined {
  if (head[0] === 0x23 && head[1] === 0x21) return undefined;
  const isElf = head[0] === 0x7f && head[1] === 0x45 && head[2] === 0x4c && head[3] === 0x46;
  if (!isElf || head.byteLength < HEAD_BYTES) return "is neither an ELF program nor a script";
  const machine = (head[18] ?? 0) | (head[19] ?? 0) << 8;
  if (head[5] !== 1 || MACHINES.get(machine) !== arch) {
    return `is a program for ${MACHINES.get(machine) ?? `machine ${machine}`}, this is ${arch}`;
  }
  return undefined;
}

/**
 * Whether this machine can run a file.
 *
 * @param path The file
 * @param arch The architecture of this machine
 * @returns what is wrong, or undefined
 */
export async function executableProblem(path: string, arch: Architecture): Promise<string | undefined> {
  try {
    using file = await Deno.open(path);
    const info = await file.stat();
    if (!info.isFile) return "is not a file";
    if (info.mode !== null && (info.mode & 0o111) === 0) return "has no right to be executed";
    const head = new Uint8Array(HEAD_BYTES);
    return formatProblem(head.subarray(0, await file.read(head) ?? 0), arch);
  } catch {
    return "cannot be read";
  }
}
