/**
 * What does not change while the agent runs: who and where it is.
 *
 * @module
 */
import { BUILD_FORM, BUILD_VERSION } from "../contracts/build_info.ts";
import type { DeviceInfo } from "../contracts/device.ts";
import { type Architecture, architecture, bounded } from "../contracts/formats.ts";
import { SHORT_TEXT_MAX_CHARS } from "../contracts/limits.ts";
import { kernelBootId } from "../lib/systemd/boot_id.ts";

/** What does not change while the agent runs. */
export interface DeviceFacts {
  readonly version: string;
  readonly form: DeviceInfo["form"];
  readonly arch: Architecture;
  readonly os: DeviceInfo["os"];
  /** The kernel's id of this boot. */
  readonly bootId: string;
}

function short(text: string): string {
  // deno-lint-ignore no-control-regex -- control characters are what it removes
  return bounded(text.replaceAll(/[\u0000-\u001f\u007f]+/g, " ").trim(), SHORT_TEXT_MAX_CHARS);
}

/**
 * Reads name and version from the text of `os-release(5)`.
 *
 * @param text The file
 */
export function parseOsRelease(text: string): { readonly name: string; readonly version: string } {
  const value = (key: string): string | undefined => {
    const line = new RegExp(`^${key}=(?:"([^"\\n]*)"|'([^'\\n]*)'|([^\\s"']*))[ \\t]*$`, "m").exec(text);
    return line?.[1] ?? line?.[2] ?? line?.[3];
  };
  return { name: short(value("ID") ?? value("NAME") ?? "linux"), version: short(value("VERSION_ID") ?? "") };
}

async function readText(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch {
    // A device without the file still is a device: what it says is for people.
    return "";
  }
}

function form(): DeviceInfo["form"] {
  return BUILD_FORM === "compiled" || BUILD_FORM === "script" ? BUILD_FORM : "source";
}

/**
 * The boot id in the kernel's form: systemd's `%b` leaves the dashes out.
 *
 * @param text The id, or nothing
 * @returns `unknown` for nothing
 */
export function normalBootId(text: string): string {
  const id = short(kernelBootId(text));
  return id === "" ? "unknown" : id;
}

/**
 * Gathers the facts.
 *
 * @param bootId Id of this boot, from whoever started the agent; without it the kernel is asked, which the runtime
 * allows only to a program with every permission
 * @throws {FleetError} `E_DECODE` on an architecture that the agent is not built for
 */
export async function readDeviceFacts(bootId?: string): Promise<DeviceFacts> {
  return {
    version: BUILD_VERSION,
    form: form(),
    arch: architecture(Deno.build.arch, "arch"),
    os: { ...parseOsRelease(await readText("/etc/os-release")), kernel: short(Deno.osRelease()) },
    bootId: normalBootId(bootId ?? await readText("/proc/sys/kernel/random/boot_id")),
  };
}
