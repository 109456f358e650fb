import { assert, assertEquals } from "@std/assert";
import { JOURNAL_RESERVE_SLOTS } from "../../contracts/limits.ts";
import { Interpreter } from "../../updater/interpreter.ts";
import { JournalStore } from "../../updater/journal_store.ts";
import { silentLogger } from "../../lib/log.ts";
import { binaryPath } from "../../contracts/managed_paths.ts";
import { sha256Hex } from "../../contracts/digest.ts";
import { MemoryFileSystem } from "../fakes/memory_file_system.ts";
import {
  attemptOf,
  fastClock,
  fetcherOf,
  PATHS,
  proberOf,
  runningAgent,
  type Scenario,
  setUpDisk,
} from "./simulated_device.ts";
import { phaseOn } from "./legal_end.ts";
import { SimulatedService } from "./simulated_service.ts";

/** Starts that fail in the outage, each with other last words: far more than the journal has reserve slots. */
const FAILED_STARTS = 5 * JOURNAL_RESERVE_SLOTS;

Deno.test("a full disk and an outage that is told in ever other words do not use up the journal's reserve", async () => {
  const scenario: Scenario = {
    name: "outage",
    candidate: "ready",
    outageStarts: FAILED_STARTS,
    ends: "failed",
  };
  const disk = new MemoryFileSystem();
  await setUpDisk(disk, scenario);
  const process = runningAgent(scenario);
  const services = new SimulatedService(disk, PATHS.agentLink, process, () => Promise.resolve());
  const start = services.start.bind(services);
  services.start = async () => {
    disk.setFreeBlocks(0);
    const outcome = await start();
    const statusText = `[nats] cannot be reached, ${process.outageStarts} more`;
    return outcome.kind === "failed" ? { ...outcome, statusText } : outcome;
  };
  const { store, record } = await JournalStore.open(disk, PATHS);
  const fatal: unknown[] = [];
  const interpreter = new Interpreter({
    record,
    store,
    context: {
      fs: disk,
      paths: PATHS,
      fetcher: fetcherOf(scenario),
      prober: proberOf(scenario),
      services,
      clock: fastClock(),
      log: silentLogger,
    },
    onFatal: (error) => fatal.push(error),
  });
  const attempt = attemptOf(scenario);
  await interpreter.take({
    kind: "AttemptAccepted",
    attempt,
    digest: sha256Hex(new Uint8Array()),
    previousPath: binaryPath(PATHS, "1.0.0"),
    targetPath: binaryPath(PATHS, "2.0.0"),
    alreadySelected: false,
  });
  await interpreter.settled();
  assertEquals(fatal, []);
  assertEquals([await phaseOn(disk), process.running?.version], ["failed", "1.0.0"]);
  assert(!store.reserveComplete, "the transitions themselves come from the reserve");
});
