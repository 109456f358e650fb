/**
 * Whether this machine can run the lab.
 *
 * @module
 */
import { hasImage, type LabSystem } from "./lab_image.ts";

const TOOLS = ["systemd-nspawn", "nsenter", "setpriv", "unshare", "mount"] as const;

/** Whether a program is in `PATH`. */
export function hasTool(name: string): boolean {
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

/**
 * Why no device can be booted here, or undefined.
 *
 * @param tools Programs that are needed besides. Default none
 */
export function machineProblem(tools: readonly string[] = []): string | undefined {
  if (Deno.build.os !== "linux") return "needs Linux";
  if (Deno.uid() !== 0) return "needs root";
  if ((capabilities() >> CAP_SYS_ADMIN & 1n) === 0n) return "needs the right to mount";
  const missing = TOOLS.filter((tool) => !hasTool(tool));
  if (missing.length > 0) return `needs ${missing.join(", ")} (apt install systemd-container)`;
  const lacking = tools.filter((tool) => !hasTool(tool));
  if (lacking.length > 0) return `needs ${lacking.join(", ")}`;
  if (!/\bcgroup2$/m.test(Deno.readTextFileSync("/proc/filesystems"))) return "needs control groups v2";
  return undefined;
}

/**
 * The variable that {@link labProblem} asks for, since booting devices takes minutes, which not every run of all tests
 * has: `1` for everything, `short` for what continuous integration has the time for.
 */
export const LAB_VARIABLE = "HARMONY_LAB";
/** The one system of a short run. */
const SHORT_SYSTEM: LabSystem = "debian-12";

/**
 * Why a system's devices are not booted here and now, or undefined.
 *
 * @param system The system
 * @param inShort Whether a short run has the time for it. Default yes
 * @param tools Programs of this machine that it needs besides. Default none
 */
export function labProblem(system: LabSystem, inShort = true, tools: readonly string[] = []): string | undefined {
  const wanted = Deno.env.get(LAB_VARIABLE) ?? "";
  if (wanted !== "1" && wanted !== "short") return "runs with ./dev lab";
  if (wanted === "short" && (!inShort || system !== SHORT_SYSTEM)) return "runs with ./dev lab, not in a short run";
  return machineProblem(tools) ?? (hasImage(system) ? undefined : "needs its image (./dev lab makes it)");
}
