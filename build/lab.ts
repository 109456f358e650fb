/**
 * `./dev lab`: makes the images, runs the scenarios of `tests/lab/` on booted devices and prints a matrix with the
 * figures that they measured.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { ensureImage, LAB_SYSTEMS, type LabSystem } from "../tests/lab/lab_image.ts";
import { LAB_VARIABLE, machineProblem } from "../tests/lab/lab_machine.ts";
import { SCENARIOS } from "../tests/lab/scenarios/all.ts";
import { isSystem, runDeviceTests, write } from "./device_tests.ts";

const USAGE = `usage: ./dev lab [--system SYSTEM]... [--images] [--list] [SCENARIO...]

Boots devices with systemd as containers, installs the units, and runs scenarios on them. Needs root, systemd-nspawn and
mmdebstrap; without them it says so and runs nothing.

  SCENARIO         only these; default: all of them
  --system SYSTEM  only this one: ${LAB_SYSTEMS.join(" or ")}
  --images         only make the images
  --list           name the scenarios and run none
`;

interface Request {
  readonly systems: readonly LabSystem[];
  readonly scenarios: readonly string[];
  readonly imagesOnly: boolean;
  readonly listOnly: boolean;
}

/** Reads the command line; a text is what is wrong with it. */
export function parseLabArgs(args: readonly string[]): Request | string {
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
    const oddSystem = values.system.find((system) => !isSystem(system));
    if (oddSystem !== undefined) return `unknown system "${oddSystem}"; there are: ${LAB_SYSTEMS.join(", ")}`;
    const names = SCENARIOS.map(({ name }) => name);
    const oddScenario = positionals.find((scenario) => !names.includes(scenario));
    if (oddScenario !== undefined) return `unknown scenario "${oddScenario}"; ./dev lab --list names them`;
    return {
      systems: values.system.filter(isSystem),
      scenarios: positionals.length > 0 ? positionals : names,
      imagesOnly: values.images,
      listOnly: values.list,
    };
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
}

/** Names of the tests, as `deno test --filter` takes them; a run of everything has those of the lab itself as well. */
function filterOf({ systems, scenarios }: Request): string {
  const own = ["systemd adapter", "a run of the lab", "compiled-device-setup"];
  const all = scenarios.length === SCENARIOS.length ? own : [];
  return `/^(?:${[...all, ...scenarios].join("|")}) on (?:${systems.join("|")})/`;
}

function runScenarios(request: Request): Promise<boolean> {
  return runDeviceTests({
    folder: "tests/lab",
    filter: filterOf(request),
    environment: { [LAB_VARIABLE]: "1" },
    expected: request.systems.length * request.scenarios.length,
  });
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--help")) {
    await write(USAGE);
    return 0;
  }
  const request = parseLabArgs(args);
  if (typeof request === "string") {
    await write(`lab: ${request}\n${USAGE}`);
    return 64;
  }
  if (request.listOnly) {
    await write(SCENARIOS.map(({ name, title }) => `${name.padEnd(32)}${title}\n`).join(""));
    return 0;
  }
  const problem = machineProblem();
  if (problem !== undefined) {
    await write(`lab: skipped, this machine ${problem}\n`);
    return 0;
  }
  try {
    for (const system of request.systems) {
      await ensureImage(system, (line) => void Deno.stderr.writeSync(new TextEncoder().encode(`lab: ${line}\n`)));
    }
  } catch (error) {
    await write(`lab: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
  return request.imagesOnly || await runScenarios(request) ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
