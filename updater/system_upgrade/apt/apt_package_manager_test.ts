import { assert, assertEquals } from "@std/assert";
import { FakeClock } from "../../../tests/fakes/fake_clock.ts";
import { MemoryFileSystem } from "../../../tests/fakes/memory_file_system.ts";
import { APT_FETCH_RETRY_MS, APT_FETCH_TRIES_MAX, APT_LOCK_TIMEOUT_MS } from "../../../contracts/limits.ts";
import { silentLogger } from "../../../lib/log.ts";
import type { PackageManager } from "../ports.ts";
import { commandName, type CommandWords } from "./apt_commands.ts";
import { aptPackageManager } from "./apt_package_manager.ts";
import type { UnitCommandRun } from "./unit_command.ts";

/** How a command of the test ends: its exit code, and what it prints. */
type Answer = readonly [exitCode: number, output: string];

/** An apt whose commands end as a test says. */
function scripted(answers: (name: string, times: number) => Answer) {
  const clock = new FakeClock();
  const disk = new MemoryFileSystem();
  const calls: string[] = [];
  const command = (words: CommandWords): Promise<UnitCommandRun> => {
    const name = words.includes("--simulate")
      ? "simulate"
      : words.includes("--print-uris")
      ? "uris"
      : commandName(words);
    calls.push(name);
    const [exitCode, stdout] = answers(name, calls.filter((call) => call === name).length);
    const lines = stdout.split("\n").filter((line) => line !== "");
    return Promise.resolve({ command: name, exitCode, stdout, lines, succeeded: exitCode === 0 });
  };
  const packages: PackageManager = aptPackageManager({
    fs: disk,
    paths: { systemUpgradeDirectory: "/state/system-upgrade" },
    clock,
    log: silentLogger,
    tool: () => Promise.reject(new RangeError("no unit in this test")),
    command,
  });
  return { clock, disk, calls, packages };
}

const NEVER = new AbortController().signal;
const LOCKED = "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)\n";
const DOWN = "E: Failed to fetch http://127.0.0.1/dists/stable/InRelease  503\n";

Deno.test("look() takes the exit code of an audit that found something, and no other", async () => {
  const dirty = scripted((name) => name === "dpkg --audit" ? [1, " lab-app   unpacked\n"] : [0, "/boot\n"]);
  assertEquals(await dirty.packages.look(NEVER), {
    ok: true,
    value: { readOnly: ["/boot"], unfinished: ["lab-app"] },
  });
  const clean = scripted(() => [0, ""]);
  assertEquals(await clean.packages.look(NEVER), { ok: true, value: { readOnly: [], unfinished: [] } });
  const broken = scripted((name) =>
    name === "dpkg --audit" ? [2, "dpkg: error: parsing file '/var/lib/dpkg/status'\n"] : [0, ""]
  );
  const result = await broken.packages.look(NEVER);
  assertEquals(result.ok ? "ok" : result.finding.reason, "DpkgBroken");
});

Deno.test("refresh() waits for the lock of the index for as long as the limit, which apt does not do", async () => {
  const held = scripted(() => [100, LOCKED]);
  const startMs = held.clock.monotonicMs();
  const result = await held.clock.advanceUntil(held.packages.refresh(NEVER), 2 * APT_LOCK_TIMEOUT_MS);
  assertEquals(result.ok ? "ok" : result.finding.reason, "LockTimeout");
  const waitedMs = held.clock.monotonicMs() - startMs;
  assert(waitedMs >= APT_LOCK_TIMEOUT_MS && waitedMs <= APT_LOCK_TIMEOUT_MS + APT_FETCH_RETRY_MS, `${waitedMs}`);
  const released = scripted((_, times) => times < 3 ? [100, LOCKED] : [0, ""]);
  assertEquals((await released.clock.advanceUntil(released.packages.refresh(NEVER), APT_LOCK_TIMEOUT_MS)).ok, true);
});

Deno.test("refresh() tries a mirror again that is down, and not one that nobody signed", async () => {
  const down = scripted(() => [100, DOWN]);
  const result = await down.clock.advanceUntil(down.packages.refresh(NEVER), 600_000);
  assertEquals([result.ok, down.calls.length], [false, APT_FETCH_TRIES_MAX]);
  const back = scripted((_, times) => times < APT_FETCH_TRIES_MAX ? [100, DOWN] : [0, ""]);
  assertEquals((await back.clock.advanceUntil(back.packages.refresh(NEVER), 600_000)).ok, true);
  const unsigned = scripted(() => [100, "E: The repository 'http://127.0.0.1 stable InRelease' is not signed.\n"]);
  await unsigned.packages.refresh(NEVER);
  assertEquals(unsigned.calls.length, 1);
  const broken = scripted((_, times) =>
    times < 2 ? [100, "E: Failed to fetch http://127.0.0.1/pool/x.deb  503\n"] : [0, ""]
  );
  assertEquals((await broken.clock.advanceUntil(broken.packages.download(NEVER), 600_000)).ok, true);
  const full = scripted(() => [100, "E: You don't have enough free space in /var/cache/apt/archives/.\n"]);
  await full.packages.download(NEVER);
  assertEquals(full.calls.length, 1);
});

Deno.test("simulate() takes nothing for granted of an output that is not whole", async () => {
  const whole = scripted((name) =>
    name === "uris"
      ? [0, "'http://127.0.0.1/pool/lab.deb' lab.deb 700 SHA256:0\n"]
      : [0, "Inst lab [1] (2 Lab [all])\n1 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.\n"]
  );
  const result = await whole.packages.simulate(NEVER);
  assert(result.ok);
  assertEquals([result.value.plan.upgraded.length, result.value.downloadBytes], [1, 700]);
  const torn = await scripted(() => [0, "Inst lab [1] (2 Lab [all])\n"]).packages.simulate(NEVER);
  assertEquals(torn.ok ? "ok" : torn.finding.reason, "SimulationFailed");
});

Deno.test("tidy() removes what earlier changes left, and never fails", async () => {
  const { disk, packages } = scripted(() => [100, "E: nothing to clean\n"]);
  await packages.tidy(NEVER);
  await disk.makeDirectory("/state/system-upgrade", 0o700);
  await (await disk.create("/state/system-upgrade/fleet-system-upgrade-x", 0o600)).close();
  await packages.tidy(NEVER);
  assertEquals(await disk.list("/state/system-upgrade"), []);
});
