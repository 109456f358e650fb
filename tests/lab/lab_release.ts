/**
 * A release folder for devices of the lab, in one form, as `./dev build` lays it out (`docs/decisions/0008`).
 *
 * @module
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { BinaryForm } from "../../contracts/formats.ts";
import { labPrelude } from "./lab_agent.ts";
import { buildLabProgram } from "./lab_program.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const UNITS = ["fleet-agent.service", "fleet-updater.service"] as const;

/** What goes into a release folder. */
export interface LabReleaseOptions {
  readonly version: string;
  readonly form: BinaryForm;
  /** JavaScript in front of the updater. */
  readonly updaterPrelude?: string;
  /** Where devices have their deno. */
  readonly denoPath: string;
}

/**
 * Makes a release folder.
 *
 * @param directory Where it goes; it must not be there
 * @param options Version, form, runtime
 */
export async function makeLabRelease(directory: string, options: LabReleaseOptions): Promise<void> {
  const { version, form, denoPath, updaterPrelude } = options;
  const programs = `bin/${form === "script" ? "script" : Deno.build.arch}`;
  await Deno.mkdir(`${directory}/${programs}`, { recursive: true });
  await Deno.mkdir(`${directory}/systemd`);
  const preludes = { "fleet-agent": labPrelude(version), "fleet-updater": updaterPrelude ?? "" } as const;
  for (const program of ["fleet-agent", "fleet-updater"] as const) {
    const outPath = `${directory}/${programs}/${program}`;
    await buildLabProgram({ program, version, form, denoPath, outPath, prelude: preludes[program] });
  }
  for (const unit of UNITS) {
    await Deno.copyFile(`${REPOSITORY}/deploy/systemd/${unit}`, `${directory}/systemd/${unit}`);
  }
  await Deno.copyFile(`${REPOSITORY}/install.sh`, `${directory}/install.sh`);
  await Deno.writeTextFile(`${directory}/VERSION`, `${version}\n`);
  const files = ["VERSION", "install.sh", `${programs}/fleet-agent`, `${programs}/fleet-updater`];
  const sums = await Promise.all([...files, ...UNITS.map((unit) => `systemd/${unit}`)].map(async (path) => {
    const digest = createHash("sha256").update(await Deno.readFile(`${directory}/${path}`)).digest("hex");
    return `${digest}  ${path}\n`;
  }));
  await Deno.writeTextFile(`${directory}/SHA256SUMS`, sums.join(""));
}
