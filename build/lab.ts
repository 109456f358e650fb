/**
 * `./dev lab`: makes the images, runs the scenarios of `tests/lab/` on booted devices and prints a matrix with the
 * figures that they measured.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { ensureImage, LAB_SYSTEMS } from "../tests/lab/lab_image.ts";
import { LAB_VARIABLE, machineProblem } from "../tests/lab/lab_machine.ts";
import { SCENARIOS } from "../tests/lab/scenarios/all.ts";
import {
  type DeviceCommand,
  type DeviceRequest,
  deviceRequest,
  runDeviceCommand,
  runDeviceTests,
} from "./device_tests.ts";

const USAGE = `usage: ./dev lab [--system SYSTEM]... [--images] [--list] [SCENARIO...]

Boots devices with systemd as containers, installs the units, and runs scenarios on them. Needs root, systemd-nspawn and
mmdebstrap; without them it says so and runs nothing.

  SCENARIO         only these; default: all of them
  --system SYSTEM  only this one: ${LAB_SYSTEMS.join(" or ")}
  --images         only make the images
  --list           name the scenarios and run none
`;

/** Reads the command line; a text is what is wrong with it. */
export function parseLabArgs(args: readonly string[]): DeviceRequest | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        system: { type: "string", multiple: true, default: [...LAB_SYSTEMS] },
        images: { type: "boolean", default: false },
        list: { type: "boolean", default: false },
      },
    });
    return deviceRequest(values, positionals, { name: "lab", scenarios: SCENARIOS });
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
}

/** Names of the tests, as `deno test --filter` takes them; a run of everything has those of the lab itself as well. */
function filterOf({ systems, scenarios }: DeviceRequest): string {
  const own = ["systemd adapter", "a run of the lab", "compiled-device-setup"];
  const all = scenarios.length === SCENARIOS.length ? own : [];
  return `/^(?:${[...all, ...scenarios].join("|")}) on (?:${systems.join("|")})/`;
}

function runScenarios(request: DeviceRequest): Promise<boolean> {
  return runDeviceTests({
    folder: "tests/lab",
    filter: filterOf(request),
    environment: { [LAB_VARIABLE]: "1" },
    expected: request,
  });
}

const LAB: DeviceCommand<DeviceRequest> = {
  name: "lab",
  usage: USAGE,
  scenarios: SCENARIOS,
  parse: parseLabArgs,
  machineProblem,
  ensureImage,
  run: runScenarios,
};

if (import.meta.main) Deno.exit(await runDeviceCommand(LAB, Deno.args));
