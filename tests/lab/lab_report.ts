/**
 * Results of scenarios on their way to the runner, one line of JSON each.
 *
 * @module
 */
import type { LabSystem } from "./lab_image.ts";

/** How one scenario ended on one system. */
export interface LabResult {
  readonly scenario: string;
  readonly system: LabSystem;
  readonly result: "passed" | "failed";
  readonly seconds: number;
  /** What it measured; units are in the names. */
  readonly figures: Readonly<Record<string, number>>;
}

/** The variable that names the file. */
export const REPORT_VARIABLE = "HARMONY_LAB_REPORT";

/** Adds a result to the report, if there is one. */
export async function reportResult(result: LabResult): Promise<void> {
  const path = Deno.env.get(REPORT_VARIABLE) ?? "";
  if (path !== "") await Deno.writeTextFile(path, `${JSON.stringify(result)}\n`, { append: true });
}

/** Reads a report. */
export async function readResults(path: string): Promise<LabResult[]> {
  const text = await Deno.readTextFile(path).catch(() => "");
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line) as LabResult);
}
