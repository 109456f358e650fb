/**
 * Whether this machine can run virtual devices, and whether it should.
 *
 * @module
 */
import { hasTool } from "../lab/lab_machine.ts";
import type { LabSystem } from "../lab/lab_image.ts";
import { hasVmImage } from "./vm_image.ts";

const TOOLS = ["qemu-system-x86_64", "mmdebstrap", "mkfs.ext4", "setpriv", "tar"] as const;

/** Why no virtual machine can be started here, or undefined. */
export function vmMachineProblem(): string | undefined {
  if (Deno.build.os !== "linux") return "needs Linux";
  if (Deno.build.arch !== "x86_64") return "needs an x86_64 machine";
  if (Deno.uid() !== 0) return "needs root";
  const missing = TOOLS.filter((tool) => !hasTool(tool));
  if (missing.length > 0) return `needs ${missing.join(", ")} (apt install qemu-system-x86 mmdebstrap)`;
  return undefined;
}

/** The variable that {@link vmProblem} asks for: a run takes an hour, which no run of all tests has. */
export const VM_VARIABLE = "HARMONY_VM";

/** Why a system's machines are not started here and now, or undefined. */
export function vmProblem(system: LabSystem): string | undefined {
  if (Deno.env.get(VM_VARIABLE) !== "1") return "runs with ./dev vm";
  return vmMachineProblem() ?? (hasVmImage(system) ? undefined : "needs its disk (./dev vm makes it)");
}
