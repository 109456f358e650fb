/**
 * Results of the lab as text for people.
 *
 * @module
 */
import { LAB_SYSTEMS } from "./lab_image.ts";
import type { LabResult } from "./lab_report.ts";

function nameWidth(names: readonly string[]): number {
  return Math.max(...names.map((name) => name.length), 8) + 2;
}

/**
 * Scenarios by systems, with how each ended and how long it took.
 *
 * @param results In any order
 */
export function renderMatrix(results: readonly LabResult[]): string {
  const scenarios = [...new Set(results.map(({ scenario }) => scenario))];
  const systems = LAB_SYSTEMS.filter((system) => results.some((result) => result.system === system));
  const width = nameWidth(scenarios);
  const rows = scenarios.map((scenario) => {
    const cells = systems.map((system) => {
      const found = results.find((result) => result.scenario === scenario && result.system === system);
      return found === undefined ? "-" : `${found.result === "passed" ? "ok" : "FAILED"} (${found.seconds} s)`;
    });
    return `${scenario.padEnd(width)}${cells.map((cell) => cell.padEnd(18)).join("")}`.trimEnd();
  });
  const head = `${"SCENARIO".padEnd(width)}${systems.map((system) => system.padEnd(18)).join("")}`.trimEnd();
  return [head, ...rows, ""].join("\n");
}

/**
 * The figures, by systems; empty when there are none.
 *
 * @param results In any order
 */
export function renderFigures(results: readonly LabResult[]): string {
  const systems = LAB_SYSTEMS.filter((system) => results.some((result) => result.system === system));
  const names = [
    ...new Set(results.flatMap(({ scenario, figures }) => Object.keys(figures).map((name) => `${scenario} ${name}`))),
  ];
  if (names.length === 0) return "";
  const width = nameWidth(names);
  const rows = names.map((name) => {
    const [scenario = "", figure = ""] = name.split(" ");
    const cells = systems.map((system) => {
      const found = results.find((result) => result.scenario === scenario && result.system === system);
      return `${found?.figures[figure] ?? "-"}`;
    });
    return `${name.padEnd(width)}${cells.map((cell) => cell.padEnd(18)).join("")}`.trimEnd();
  });
  const head = `${"FIGURE".padEnd(width)}${systems.map((system) => system.padEnd(18)).join("")}`.trimEnd();
  return [head, ...rows, ""].join("\n");
}
