import { LAB_SYSTEMS } from "../lab/lab_image.ts";
import { runScenario } from "../lab/run_scenario.ts";
import { MACHINES } from "./vm_device.ts";
import { vmProblem } from "./vm_machine.ts";
import { VM_SCENARIOS } from "./vm_scenarios.ts";

for (const system of LAB_SYSTEMS) {
  const problem = vmProblem(system);
  for (const scenario of VM_SCENARIOS) {
    const name = `${scenario.name} in a machine with ${system}: ${scenario.title}`;
    if (problem === undefined) Deno.test(name, () => runScenario(scenario, system, MACHINES));
    else Deno.test({ name: `${name} (skipped: ${problem})`, ignore: true, fn: () => {} });
  }
}
