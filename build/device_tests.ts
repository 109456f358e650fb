/**
 * What `./dev lab` and `./dev vm` do alike: tests on booted devices in a process of their own, and a matrix of how they
 * ended.
 *
 * @module
 */
import { LAB_SYSTEMS, type LabSystem } from "../tests/lab/lab_image.ts";
import { readResults, REPORT_VARIABLE } from "../tests/lab/lab_report.ts";
import { renderFigures, renderMatrix } from "../tests/lab/render_matrix.ts";
import { REPOSITORY_ROOT } from "./bundle.ts";

/** Whether a text names a system that devices run. */
function isSystem(text: string): text is LabSystem {
  return LAB_SYSTEMS.some((system) => system === text);
}

/** What every command line of these commands says. */
export interface DeviceRequest {
  readonly systems: readonly LabSystem[];
  readonly scenarios: readonly string[];
  readonly imagesOnly: boolean;
  readonly listOnly: boolean;
}

/**
 * What was asked for by name.
 *
 * @param values Options as they were read
 * @param positionals Names of scenarios
 * @param command The command, for its problems
 * @throws {TypeError} when there is no such system or scenario
 */
export function deviceRequest(
  values: { readonly system: readonly string[]; readonly images: boolean; readonly list: boolean },
  positionals: readonly string[],
  { name, scenarios }: Pick<DeviceCommand<DeviceRequest>, "name" | "scenarios">,
): DeviceRequest {
  const oddSystem = values.system.find((system) => !isSystem(system));
  if (oddSystem !== undefined) {
    throw new TypeError(`unknown system "${oddSystem}"; there are: ${LAB_SYSTEMS.join(", ")}`);
  }
  const names = scenarios.map((scenario) => scenario.name);
  const oddScenario = positionals.find((scenario) => !names.includes(scenario));
  if (oddScenario !== undefined) {
    throw new TypeError(`unknown scenario "${oddScenario}"; ./dev ${name} --list names them`);
  }
  return {
    systems: values.system.filter(isSystem),
    scenarios: positionals.length > 0 ? positionals : names,
    imagesOnly: values.images,
    listOnly: values.list,
  };
}

/** A command that runs scenarios on devices. */
export interface DeviceCommand<R extends DeviceRequest> {
  /** As in `./dev NAME`. */
  readonly name: string;
  readonly usage: string;
  readonly scenarios: readonly { readonly name: string; readonly title: string }[];
  /** Reads the command line; a text is what is wrong with it. */
  readonly parse: (args: readonly string[]) => R | string;
  /** Why this machine cannot do it, if so. */
  readonly machineProblem: () => string | undefined;
  readonly ensureImage: (system: LabSystem, say: (line: string) => void) => Promise<unknown>;
  /** Runs the scenarios; whether all of them passed. */
  readonly run: (request: R) => Promise<boolean>;
}

/**
 * Runs a command.
 *
 * @param command The command
 * @param args Its arguments
 * @returns the exit code: 0 all passed or nothing could be run, 1 something failed, 64 a wrong command line
 */
export async function runDeviceCommand<R extends DeviceRequest>(
  command: DeviceCommand<R>,
  args: readonly string[],
): Promise<number> {
  const { name, usage } = command;
  if (args.includes("--help")) {
    await write(usage);
    return 0;
  }
  const request = command.parse(args);
  if (typeof request === "string") {
    await write(`${name}: ${request}\n${usage}`);
    return 64;
  }
  if (request.listOnly) {
    await write(command.scenarios.map((scenario) => `${scenario.name.padEnd(32)}${scenario.title}\n`).join(""));
    return 0;
  }
  const problem = command.machineProblem();
  if (problem !== undefined) {
    await write(`${name}: skipped, this machine ${problem}\n`);
    return 0;
  }
  try {
    const say = (line: string) => void Deno.stderr.writeSync(new TextEncoder().encode(`${name}: ${line}\n`));
    for (const system of request.systems) await command.ensureImage(system, say);
  } catch (error) {
    await write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
  return request.imagesOnly || await command.run(request) ? 0 : 1;
}

/** Prints a text. */
export async function write(text: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(text));
}

/** Which tests. */
export interface DeviceTests {
  readonly folder: string;
  /** As `deno test --filter` takes it. */
  readonly filter: string;
  /** Variables that the tests ask for. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether what the tests print on the way is shown. Default no */
  readonly showsOutput?: boolean;
  /** What must have ended; tests of the harness itself report beside it. */
  readonly expected: Pick<DeviceRequest, "systems" | "scenarios">;
}

/**
 * Runs tests on devices and prints the matrix and the figures.
 *
 * @param tests Which
 * @returns whether all of them passed
 */
export async function runDeviceTests(tests: DeviceTests): Promise<boolean> {
  const { folder, filter, environment, showsOutput = false, expected } = tests;
  const directory = await Deno.makeTempDir();
  const report = `${directory}/report`;
  try {
    const child = new Deno.Command(Deno.execPath(), {
      // Quiet, deno prints nothing that a test prints.
      args: ["test", ...(showsOutput ? [] : ["--quiet"]), "--allow-all", `--filter=${filter}`, folder],
      cwd: REPOSITORY_ROOT,
      env: { [REPORT_VARIABLE]: report, ...environment },
      stdin: "null",
    }).spawn();
    const { success } = await child.status;
    const results = await readResults(report);
    await write(`\n${renderMatrix(results)}\n${renderFigures(results)}`);
    const ended = new Set(results.map(({ scenario, system }) => `${scenario} ${system}`));
    const areAllThere = expected.systems.every((system) =>
      expected.scenarios.every((scenario) => ended.has(`${scenario} ${system}`))
    );
    return success && areAllThere;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
