/**
 * What an artifact is, from its first bytes. Pure.
 *
 * @module
 */
import type { Architecture, BinaryForm } from "../../../contracts/formats.ts";
import { elfArchitectureOf } from "../../../lib/elf_header.ts";

/** What an artifact is: a program for one architecture, or a script for every one. */
export type ArtifactKind =
  | { readonly form: Extract<BinaryForm, "compiled">; readonly arch: Architecture }
  | { readonly form: Extract<BinaryForm, "script"> };

/**
 * What an artifact is; null for what no device could start.
 *
 * @param head Its first bytes
 */
export function artifactKind(head: Uint8Array): ArtifactKind | null {
  const arch = elfArchitectureOf(head);
  if (arch !== null) return { form: "compiled", arch };
  // A kernel starts a script by its first line, which names the interpreter.
  return head[0] === 0x23 && head[1] === 0x21 ? { form: "script" } : null;
}
