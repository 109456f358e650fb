/**
 * A release folder for devices of the lab, in the script form, as `./dev build` lays it out (`docs/decisions/0008`).
 *
 * @module
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { buildScript } from "../../build/script_form.ts";
import { buildAgent } from "../fleet/agent_builds.ts";
import { labPrelude } from "./lab_agent.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const UNITS = ["fleet-agent.service", "fleet-updater.service"] as const;

/** What goes into a release folder. */
export interface LabReleaseOptions {
  readonly version: string;
  /** Where devices have their deno. */
  readonly denoPath: string;
}

/**
 * Makes a release folder.
 *
 * @param directory Where it goes; it must not be there
 * @param options Version, runtime
 */
export async function makeLabRelease(directory: string, { version, denoPath }: LabReleaseOptions): Promise<void> {
  const programs = `${directory}/bin/script`;
  await Deno.mkdir(programs, { recursive: true });
  await Deno.mkdir(`${directory}/systemd`);
  const agent = await buildAgent(programs, { version, prelude: labPrelude(version), denoPath });
  await Deno.rename(agent.path, `${programs}/fleet-agent`);
  await buildScript({ program: "fleet-updater", version, outPath: `${programs}/fleet-updater`, denoPath });
  for (const unit of UNITS) {
    await Deno.copyFile(`${REPOSITORY}/deploy/systemd/${unit}`, `${directory}/systemd/${unit}`);
  }
  await Deno.copyFile(`${REPOSITORY}/install.sh`, `${directory}/install.sh`);
  await Deno.writeTextFile(`${directory}/VERSION`, `${version}\n`);
  const files = ["VERSION", "install.sh", "bin/script/fleet-agent", "bin/script/fleet-updater"];
  const sums = await Promise.all([...files, ...UNITS.map((unit) => `systemd/${unit}`)].map(async (path) => {
    const digest = createHash("sha256").update(await Deno.readFile(`${directory}/${path}`)).digest("hex");
    return `${digest}  ${path}\n`;
  }));
  await Deno.writeTextFile(`${directory}/SHA256SUMS`, sums.join(""));
}
