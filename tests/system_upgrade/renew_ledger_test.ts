import { assert, assertEquals, assertRejects } from "@std/assert";
import { FleetError } from "../../contracts/errors.ts";
import { CLOCK_EARLIEST_MS } from "../../contracts/limits.ts";
import { managedPaths } from "../../contracts/managed_paths.ts";
import { osFileSystem } from "../../lib/durable/os_file_system.ts";
import { acquireLock } from "../../lib/durable/process_lock.ts";
import { silentLogger } from "../../lib/log.ts";
import { AdmissionLock } from "../../updater/admission_lock.ts";
import { renewLedgerCommand } from "../../updater/commands/renew_ledger.ts";
import { LedgerStore } from "../../updater/system_upgrade/ledger_store.ts";
import { openSystemUpgrades } from "../../updater/system_upgrade/open_system_upgrades.ts";
import type { PackageManager, UpgradeHost } from "../../updater/system_upgrade/ports.ts";
import type { SystemUpgrades } from "../../updater/system_upgrade/system_upgrade_service.ts";
import { fastClock } from "../crash/simulated_device.ts";
import { accepted, FIRST_BOOT, LEDGER_START_MS, SAMPLE_LEDGERS, sampleSystemAttempt } from "../fakes/ledger_samples.ts";

const NOW_MS = LEDGER_START_MS + 60_000;

async function onDisk(test: (paths: ReturnType<typeof managedPaths>) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "fleet-ledger-" });
  try {
    await test(managedPaths(root));
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

const NOTHING = (): Promise<never> => Promise.reject(new RangeError("nothing runs in this test"));
const PACKAGES: PackageManager = {
  look: NOTHING,
  refresh: NOTHING,
  simulate: NOTHING,
  download: NOTHING,
  configure: NOTHING,
  upgrade: NOTHING,
  tidy: NOTHING,
};
const HOST: UpgradeHost = { spaces: NOTHING, isRebootDue: NOTHING, reboot: NOTHING };

type Parts = Parameters<typeof openSystemUpgrades>[0];

async function opened(paths: ReturnType<typeof managedPaths>, parts: Partial<Parts> = {}): Promise<SystemUpgrades> {
  const { upgrades } = await openSystemUpgrades({
    fs: osFileSystem,
    paths,
    clock: fastClock(),
    log: silentLogger,
    deviceId: "device-1",
    lock: new AdmissionLock(),
    agentSide: () => ({ active: false, quarantined: false }),
    stopping: () => false,
    onFatal: () => {},
    context: { packages: PACKAGES, host: HOST },
    boot: FIRST_BOOT,
    ...parts,
  });
  return upgrades;
}

Deno.test("a ledger that cannot be trusted keeps system upgrades off and says so; renewed, it refuses what may have run", () =>
  onDisk(async (paths) => {
    const { store } = await LedgerStore.open(osFileSystem, paths);
    const running = SAMPLE_LEDGERS["upgrading"];
    assert(running !== undefined);
    await store.store(running);
    await Deno.writeTextFile(paths.ledger, (await Deno.readTextFile(paths.ledger)).replace("upgrading", "upgradinG"));
    const error = await assertRejects(() => LedgerStore.read(osFileSystem, paths), FleetError);
    assertEquals(error.code, "E_LEDGER_CORRUPT");
    const broken = await opened(paths);
    assertEquals([broken.capabilities, broken.active, broken.ledgerProblem], [[], false, error.message]);
    const attempt = sampleSystemAttempt();
    const refused = await broken.request(attempt, attempt);
    assert(!refused.ok);
    assertEquals([refused.refusal.code, refused.refusal.retryable], ["E_LEDGER_CORRUPT", true]);
    const said: string[] = [];
    const command = {
      paths,
      fs: osFileSystem,
      clock: { nowMs: () => NOW_MS },
      progress: (text: string) => said.push(text),
    };
    assertEquals(await renewLedgerCommand(command), 0);
    const archives = [...Deno.readDirSync(paths.stateDirectory)].filter(({ name }) => name.includes(".corrupt-"));
    assertEquals(archives.length, 1);
    const renewed = await opened(paths);
    assertEquals([renewed.ledgerProblem, renewed.status], [undefined, undefined]);
    const lost = await renewed.request(attempt, attempt);
    assert(!lost.ok);
    assertEquals([lost.refusal.code, lost.refusal.retryable], ["E_LEDGER_LOST", false]);
  }));

Deno.test("the ledger is renewed while no updater runs, and by a clock that was set", () =>
  onDisk(async (paths) => {
    await osFileSystem.makeDirectory(paths.stateDirectory, 0o700);
    const renew = (nowMs: number) =>
      assertRejects(
        () => renewLedgerCommand({ paths, fs: osFileSystem, clock: { nowMs: () => nowMs }, progress: () => {} }),
        FleetError,
      );
    assertEquals((await renew(CLOCK_EARLIEST_MS - 1)).code, "E_CLOCK_INSANE");
    const lock = await acquireLock(paths.updaterLock);
    assertEquals((await renew(NOW_MS)).code, "E_REPAIR_BUSY");
    lock?.release();
    assertEquals(await osFileSystem.stat(paths.ledger), null);
  }));

Deno.test("without apt or without a boot id the capability is not told, and a request is refused for good", () =>
  onDisk(async (paths) => {
    for (const parts of [{ context: null }, { boot: null }]) {
      const upgrades = await opened(paths, parts);
      const { attempt } = accepted();
      const answer = await upgrades.request(attempt, attempt);
      assert(!answer.ok);
      assertEquals([upgrades.capabilities, answer.refusal.code, answer.refusal.retryable], [
        [],
        "E_UNSUPPORTED_OPERATION",
        false,
      ]);
    }
    assertEquals(await osFileSystem.stat(paths.ledger), null);
  }));
