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
export function isSystem(text: string): text is LabSystem {
  return LAB_SYSTEMS.some((system) => system === text);
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
  /** How many results there must be. */
  readonly expected: number;
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
    return success && results.length === expected;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
