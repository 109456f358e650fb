import { LAB_SYSTEMS } from "./lab_image.ts";
import { labProblem } from "./lab_machine.ts";
import { runScenario } from "./run_scenario.ts";
import { SCENARIOS } from "./scenarios/all.ts";

for (const system of LAB_SYSTEMS) {
  for (const scenario of SCENARIOS) {
    const problem = labProblem(system, scenario.inShort ?? false, scenario.tools);
    const name = `${scenario.name} on ${system}: ${scenario.title}`;
    if (problem === undefined) Deno.test(name, () => runScenario(scenario, system));
    else Deno.test({ name: `${name} (skipped: ${problem})`, ignore: true, fn: () => {} });
  }
}
