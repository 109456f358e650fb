/**
 * Root's repair on a simulated device, by the updater's own repair service.
 *
 * @module
 */
import { createLogger } from "../../lib/log.ts";
import { updaterStateOf } from "../../updater/core/projection.ts";
import { Interpreter } from "../../updater/interpreter.ts";
import { JournalStore } from "../../updater/journal_store.ts";
import type { RepairResponse } from "../../updater/repair/repair_protocol.ts";
import { RepairService } from "../../updater/repair/repair_service.ts";
import { gatedFileSystem } from "./gated_file_system.ts";
import { fastClock, fetcherOf, type LifeOptions, PATHS, proberOf } from "./simulated_device.ts";
import { SimulatedService } from "./simulated_service.ts";

/**
 * Repairs a device with an installed version.
 *
 * @param options Disk, processes, scenario, gate
 * @param version The version
 */
export async function repair(options: Omit<LifeOptions, "send">, version: string): Promise<RepairResponse> {
  const { disk, process, scenario, gate = () => Promise.resolve() } = options;
  const fs = gatedFileSystem(disk, gate);
  const services = new SimulatedService(disk, PATHS.agentLink, process, gate);
  const { store, record } = await JournalStore.open(fs, PATHS);
  const interpreter = new Interpreter({
    record,
    store,
    context: {
      fs,
      paths: PATHS,
      fetcher: fetcherOf(scenario),
      prober: proberOf(scenario),
      services,
      clock: fastClock(),
      log: createLogger({ sink: () => {}, format: "json", level: "error" }),
    },
    onFatal: (error) => {
      throw error;
    },
  });
  const facts = { updaterVersion: "1.0.0", capabilities: ["https"], journalUnit: services.unit, admitting: false };
  const state = () => updaterStateOf(interpreter.record, facts);
  const service = new RepairService({ interpreter, services, fs, paths: PATHS, state });
  return await service.handle({ request: "select", version });
}
