/**
 * One scenario on one device, from its setup to its result.
 *
 * @module
 */
import type { DeviceKind } from "./device.ts";
import { CONTAINERS } from "./lab_device.ts";
import { LabFleet } from "./lab_fleet.ts";
import type { LabSystem } from "./lab_image.ts";
import { type LabResult, reportResult } from "./lab_report.ts";
import type { Scenario } from "./scenario.ts";

/**
 * Runs a scenario and reports how it ended.
 *
 * @param scenario The scenario
 * @param system Of the device
 * @param kind Of the device. Default a container
 */
export async function runScenario(
  scenario: Scenario,
  system: LabSystem,
  kind: DeviceKind = CONTAINERS,
): Promise<void> {
  const startMs = performance.now();
  const figures: Record<string, number> = {};
  let result: LabResult["result"] = "failed";
  try {
    await using lab = await LabFleet.start({ system, kind, ...scenario.options });
    try {
      await scenario.run(lab, (name, value) => figures[name] = value);
    } catch (error) {
      // Not to stderr: the runner shows no output of a quiet test.
      throw new Error(`The scenario failed; on the device:\n${await lab.evidence()}`, { cause: error });
    }
    result = "passed";
  } finally {
    const seconds = Math.round((performance.now() - startMs) / 100) / 10;
    await reportResult({ scenario: scenario.name, system, result, seconds, figures });
  }
}
