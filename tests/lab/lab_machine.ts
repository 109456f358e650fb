/**
 * Whether this machine can run the lab.
 *
 * @module
 */
import { hasImage, type LabSystem } from "./lab_image.ts";

const TOOLS = ["systemd-nspawn", "nsenter", "setpriv", "unshare", "mount"] as const;

function hasTool(name: string): boolean {
  return (Deno.env.get("PATH") ?? "").split(":").some((folder) => {
    try {
      return Deno.statSync(`${folder}/${name}`).isFile;
    } catch {
      return false;
    }
  });
}

/** Capabilities in the effective set, as bits. */
function capabilities(): bigint {
  const hex = /^CapEff:\s*([0-9a-f]+)$/m.exec(Deno.readTextFileSync("/proc/self/status"))?.[1] ?? "0";
  return BigInt(`0x${hex}`);
}

const CAP_SYS_ADMIN = 21n;

/** Why no device can be booted here, or undefined. */
export function machineProblem(): string | undefined {
  if (Deno.build.os !== "linux") return "needs Linux";
  if (Deno.uid() !== 0) return "needs root";
  if ((capabilities() >> CAP_SYS_ADMIN & 1n) === 0n) return "needs the right to mount";
  const missing = TOOLS.filter((tool) => !hasTool(tool));
  if (missing.length > 0) return `needs ${missing.join(", ")} (apt install systemd-container)`;
  if (!/\bcgroup2$/m.test(Deno.readTextFileSync("/proc/filesystems"))) return "needs control groups v2";
  return undefined;
}

/** The variable that {@link labProblem} asks for: booting devices takes minutes, which not every run of all tests has. */
export const LAB_VARIABLE = "HARMONY_LAB";

/**
 * Why a system's devices are not booted here and now, or undefined.
 *
 * @param system The system
 */
export function labProblem(system: LabSystem): string | undefined {
  if (Deno.env.get(LAB_VARIABLE) !== "1") return "runs with ./dev lab";
  return machineProblem() ?? (hasImage(system) ? undefined : "needs its image (./dev lab makes it)");
}
