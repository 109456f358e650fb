/**
 * `./dev vm`: makes the disks, runs the scenarios of `tests/vm/` on virtual machines, power cuts among them, and prints a
 * matrix with the figures that they measured.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { LAB_SYSTEMS } from "../tests/lab/lab_image.ts";
import { freshSeed } from "../tests/fakes/seeded_random.ts";
import { ensureVmImage } from "../tests/vm/vm_image.ts";
import { VM_VARIABLE, vmMachineProblem } from "../tests/vm/vm_machine.ts";
import { cutEnvironment, type CutRequest, DEFAULT_CUTS } from "../tests/vm/vm_request.ts";
import { VM_SCENARIOS } from "../tests/vm/vm_scenarios.ts";
import {
  type DeviceCommand,
  type DeviceRequest,
  deviceRequest,
  runDeviceCommand,
  runDeviceTests,
  write,
} from "./device_tests.ts";

const USAGE = `usage: ./dev vm [--system SYSTEM]... [--cuts N] [--seed S] [--images] [--list] [SCENARIO...]

Boots devices as virtual machines, installs them with install.sh, and runs scenarios on them, with reboots and cuts of
power. Needs root, qemu-system-x86_64, mmdebstrap and mkfs.ext4; without them it says so and runs nothing.

  SCENARIO         only these; default: all of them
  --system SYSTEM  only this one: ${LAB_SYSTEMS.join(" or ")}; default: ${LAB_SYSTEMS[0]}
  --cuts N         how many times power is cut during upgrades; default: ${DEFAULT_CUTS}
  --seed S         repeats the moments of the cuts of an earlier run; default: a fresh one, which is printed
  --images         only make the disks
  --list           name the scenarios and run none
`;

const CUTS_MAX = 100_000;
const SEED_MAX = 2 ** 32 - 1;

type Request = DeviceRequest & CutRequest;

function integer(name: string, text: string, minimum: number, maximum: number): number {
  const value = Number(text);
  if (/^[0-9]+$/.test(text) && value >= minimum && value <= maximum) return value;
  throw new TypeError(`${name}: "${text}" is not an integer from ${minimum} to ${maximum}`);
}

/** Reads the command line; a text is what is wrong with it. */
export function parseVmArgs(args: readonly string[]): Request | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        system: { type: "string", multiple: true, default: [LAB_SYSTEMS[0]] },
        cuts: { type: "string", default: `${DEFAULT_CUTS}` },
        seed: { type: "string", default: `${freshSeed()}` },
        images: { type: "boolean", default: false },
        list: { type: "boolean", default: false },
      },
    });
    return {
      ...deviceRequest(values, positionals, { name: "vm", scenarios: VM_SCENARIOS }),
      cuts: integer("--cuts", values.cuts, 1, CUTS_MAX),
      seed: integer("--seed", values.seed, 0, SEED_MAX),
    };
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
}

/** Names of the tests, as `deno test --filter` takes them; a run of everything has those of the machines as well. */
function filterOf({ systems, scenarios }: Request): string {
  const own = scenarios.length === VM_SCENARIOS.length ? ["a run of machines"] : [];
  return `/^(?:${[...own, ...scenarios].join("|")}) in a machine with (?:${systems.join("|")})/`;
}

async function runScenarios(request: Request): Promise<boolean> {
  await write(`vm: ${request.cuts} cuts, --seed ${request.seed} repeats them\n`);
  return await runDeviceTests({
    folder: "tests/vm",
    filter: filterOf(request),
    environment: { [VM_VARIABLE]: "1", ...cutEnvironment(request) },
    showsOutput: true,
    expected: request,
  });
}

const VM: DeviceCommand<Request> = {
  name: "vm",
  usage: USAGE,
  scenarios: VM_SCENARIOS,
  parse: parseVmArgs,
  machineProblem: vmMachineProblem,
  ensureImage: ensureVmImage,
  run: runScenarios,
};

if (import.meta.main) Deno.exit(await runDeviceCommand(VM, Deno.args));
