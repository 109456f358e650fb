/**
 * What `deno bench --json` prints.
 *
 * @module
 */

/** The time of one benchmark, over the runs of one process. */
export interface BenchTime {
  readonly group: string;
  readonly name: string;
  /** Whether it is what the others of its group are compared with. */
  readonly isBaseline: boolean;
  /**
   * Within which three of four runs ended. Unlike the mean it does not follow the one run in which the machine did
   * something else.
   */
  readonly typicalMs: number;
}

const NANOS_PER_MS = 1_000_000;

/** The parts of the report that are used; everything is checked before use. */
interface RawBench {
  readonly group?: unknown;
  readonly name?: unknown;
  readonly baseline?: unknown;
  readonly results?: readonly { readonly ok?: { readonly p75?: unknown }; readonly failed?: unknown }[];
}

/**
 * Reads a report.
 *
 * @param text What the process wrote to its standard output
 * @throws {Error} when a benchmark failed, or the text is no report
 */
export function parseBenchReport(text: string): BenchTime[] {
  let report: { readonly benches?: unknown };
  try {
    report = JSON.parse(text);
  } catch (error) {
    throw new Error("Cannot read the report of deno bench: it is not JSON", { cause: error });
  }
  if (!Array.isArray(report?.benches)) throw new Error("Cannot read the report of deno bench: it has no benches");
  return report.benches.map(benchTime);
}

function benchTime({ group, name, baseline, results }: RawBench): BenchTime {
  if (typeof name !== "string") throw new Error("Cannot read the report of deno bench: a benchmark has no name");
  if (typeof group !== "string") throw new Error(`Cannot compare the benchmark ${name}: it is in no group`);
  const [result] = results ?? [];
  if (result?.failed !== undefined) {
    throw new Error(`The benchmark ${group}/${name} failed: ${firstText(result.failed)}`);
  }
  const typicalNs = result?.ok?.p75;
  if (typeof typicalNs !== "number" || !(typicalNs > 0)) {
    throw new Error(`Cannot read the report of deno bench: ${group}/${name} has no time`);
  }
  return { group, name, isBaseline: baseline === true, typicalMs: typicalNs / NANOS_PER_MS };
}

/** The message within a serialized error, whatever it is nested in. */
function firstText(failed: unknown): string {
  if (typeof failed === "string") return failed;
  if (typeof failed !== "object" || failed === null) return String(failed);
  const message = Reflect.get(failed, "exceptionMessage") ?? Reflect.get(failed, "message");
  if (typeof message === "string") return message;
  return JSON.stringify(failed).slice(0, 500);
}
