/**
 * `./dev lab`: makes the images, runs the scenarios of `tests/lab/` on booted devices and prints a matrix with the
 * figures that they measured.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { REPOSITORY_ROOT } from "./bundle.ts";
import { ensureImage, LAB_SYSTEMS, type LabSystem } from "../tests/lab/lab_image.ts";
import { LAB_VARIABLE, machineProblem } from "../tests/lab/lab_machine.ts";
import { readResults, REPORT_VARIABLE } from "../tests/lab/lab_report.ts";
import { renderFigures, renderMatrix } from "../tests/lab/render_matrix.ts";
import { SCENARIOS } from "../tests/lab/scenarios/all.ts";

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

function isSystem(text: string): text is LabSystem {
  return LAB_SYSTEMS.some((system) => system === text);
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

async function write(text: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(text));
}

/** Names of the tests, as `deno test --filter` takes them; a run of everything has those of the lab itself as well. */
function filterOf({ systems, scenarios }: Request): string {
  const all = scenarios.length === SCENARIOS.length ? ["systemd adapter", "a run of the lab"] : [];
  return `/^(?:${[...all, ...scenarios].join("|")}) on (?:${systems.join("|")})/`;
}

async function runScenarios(request: Request): Promise<boolean> {
  const directory = await Deno.makeTempDir();
  const report = `${directory}/report`;
  try {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["test", "--quiet", "--allow-all", `--filter=${filterOf(request)}`, "tests/lab"],
      cwd: REPOSITORY_ROOT,
      env: { [REPORT_VARIABLE]: report, [LAB_VARIABLE]: "1" },
      stdin: "null",
    }).spawn();
    const { success } = await child.status;
    const results = await readResults(report);
    await write(`\n${renderMatrix(results)}\n${renderFigures(results)}`);
    return success && results.length === request.systems.length * request.scenarios.length;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
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
