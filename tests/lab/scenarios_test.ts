import { LabFleet } from "./lab_fleet.ts";
import { LAB_SYSTEMS, type LabSystem } from "./lab_image.ts";
import { labProblem } from "./lab_machine.ts";
import { type LabResult, reportResult } from "./lab_report.ts";
import type { Scenario } from "./scenario.ts";
import { SCENARIOS } from "./scenarios/all.ts";

async function run(scenario: Scenario, system: LabSystem): Promise<void> {
  const startMs = performance.now();
  const figures: Record<string, number> = {};
  let result: LabResult["result"] = "failed";
  try {
    await using lab = await LabFleet.start({ system, ...scenario.options });
    try {
      await scenario.run(lab, (name, value) => figures[name] = value);
    } catch (error) {
      await Deno.stderr.write(new TextEncoder().encode(await lab.evidence()));
      throw error;
    }
    result = "passed";
  } finally {
    const seconds = Math.round((performance.now() - startMs) / 100) / 10;
    await reportResult({ scenario: scenario.name, system, result, seconds, figures });
  }
}

for (const system of LAB_SYSTEMS) {
  for (const scenario of SCENARIOS) {
    const problem = labProblem(system, scenario.inShort ?? false, scenario.tools);
    const name = `${scenario.name} on ${system}: ${scenario.title}`;
    if (problem === undefined) Deno.test(name, () => run(scenario, system));
    else Deno.test({ name: `${name} (skipped: ${problem})`, ignore: true, fn: () => {} });
  }
}
