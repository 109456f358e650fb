import { assert, assertEquals, assertRejects } from "@std/assert";
import { UNIT_STARTS_MAX } from "../../../contracts/limits.ts";
import type { ToolRun } from "../../systemd/system_tool.ts";
import { FakeClock } from "../../../tests/fakes/fake_clock.ts";
import { MemoryFileSystem } from "../../../tests/fakes/memory_file_system.ts";
import { replaceFile } from "../../../lib/durable/replace_file.ts";
import { type ChangeEnd, runChange, type UnitChange } from "./change_unit.ts";

const CHANGE: UnitChange = {
  unit: "fleet-system-upgrade-x.service",
  statePath: "/state/x",
  words: ["apt-get", "full-upgrade"],
  timeoutMs: 60_000,
};

/** A machine whose units a test moves by hand. */
class Machine {
  readonly disk = new MemoryFileSystem();
  readonly clock = new FakeClock();
  active: "inactive" | "active" | "failed" = "inactive";
  starts: string[][] = [];
  /** Whether systemd starts the unit. */
  refuses = false;
  /** Starts that come to nothing, first of all. */
  lostStarts = 0;
  /** Whether systemd answers. */
  silent = false;
  journal = "";

  readonly tool = (program: string, args: readonly string[]): Promise<ToolRun> => {
    const run = (exitCode: number, text = ""): Promise<ToolRun> =>
      Promise.resolve({ end: "exit", exitCode, stdout: new TextEncoder().encode(text), message: text });
    if (this.silent) return Promise.resolve({ end: "late", exitCode: -1, stdout: new Uint8Array(), message: "late" });
    if (program === "journalctl") return run(0, args.includes("--sync") ? "" : this.journal);
    if (program === "systemd-run") {
      this.starts.push([...args]);
      if (this.refuses) return run(1, "refused");
      if (this.starts.length <= this.lostStarts) return run(0);
      this.active = "active";
      return run(0);
    }
    return run(0, args.includes("show") ? `ActiveState=${this.active}\n` : "");
  };

  async leave(text: string): Promise<void> {
    await this.disk.makeDirectory("/state", 0o700);
    await replaceFile(this.disk, "/state/x", new TextEncoder().encode(`${text.padEnd(63)}\n`), { mode: 0o600 });
  }

  run(signal = new AbortController().signal): Promise<ChangeEnd> {
    return runChange({ fs: this.disk, clock: this.clock, tool: this.tool }, CHANGE, signal);
  }

  until(running: Promise<ChangeEnd>): Promise<ChangeEnd> {
    return this.clock.advanceUntil(running, 60_000);
  }
}

async function ready(): Promise<Machine> {
  const machine = new Machine();
  await machine.disk.makeDirectory("/state", 0o700);
  return machine;
}

Deno.test("runChange() starts the unit once and takes the result that it leaves", async () => {
  const machine = await ready();
  const running = machine.run();
  await machine.clock.advance(3_000);
  await machine.leave("begun");
  await machine.clock.advance(3_000);
  await machine.leave("0");
  machine.active = "inactive";
  assertEquals((await machine.until(running)).succeeded, true);
  assertEquals(machine.starts.length, 1);
  const args = machine.starts[0] ?? [];
  assert(args.includes("--property=KillMode=mixed") && args.includes("--unit=fleet-system-upgrade-x.service"));
  for (const word of args) assert(!/\$\{|\$\$/.test(word), word);
});

Deno.test("runChange() waits for a unit that an earlier updater began, and never begins it again", async () => {
  const machine = await ready();
  machine.active = "active";
  await machine.leave("begun");
  const running = machine.run();
  await machine.clock.advance(5_000);
  await machine.leave("100");
  machine.active = "failed";
  machine.journal = "E: Sub-process /usr/bin/dpkg returned an error code (1)\n";
  const end = await machine.until(running);
  assertEquals([end.succeeded, end.exitCode, end.lines.length, machine.starts.length], [false, 100, 1, 0]);
});

Deno.test("runChange() takes a result that was left while no updater ran", async () => {
  const machine = await ready();
  await machine.leave("0");
  assertEquals((await machine.until(machine.run())).succeeded, true);
  assertEquals(machine.starts.length, 0);
});

Deno.test("runChange() tells a unit that was killed", async () => {
  const killed = await ready();
  await killed.leave("begun");
  assertEquals((await killed.until(killed.run())).lines.at(-1), "its unit ended without a result");
  assertEquals(killed.starts.length, 0);
});

Deno.test("runChange() orders a start again that came to nothing, as often as its limit says", async () => {
  for (const lostStarts of [UNIT_STARTS_MAX - 1, UNIT_STARTS_MAX]) {
    const machine = await ready();
    machine.lostStarts = lostStarts;
    const running = machine.run();
    await machine.clock.advance(10_000);
    assertEquals(machine.starts.length, UNIT_STARTS_MAX);
    if (lostStarts < UNIT_STARTS_MAX) await machine.leave("0");
    const end = await machine.until(running);
    assertEquals(end.succeeded, lostStarts < UNIT_STARTS_MAX);
    if (!end.succeeded) assertEquals(end.lines, ["fleet-system-upgrade-x.service ended before it began"]);
  }
});

Deno.test("runChange() tells both ends at the time limit, by TERM and by KILL", async () => {
  for (const code of ["124", "137"]) {
    const machine = await ready();
    await machine.leave(code);
    const end = await machine.until(machine.run());
    assertEquals([end.timedOut, end.exitCode], [true, undefined]);
  }
});

Deno.test("runChange() tells that systemd refuses the unit, and waits for a systemd that does not answer", async () => {
  const refused = await ready();
  refused.refuses = true;
  assertEquals((await refused.until(refused.run())).lines, [
    "systemd does not start fleet-system-upgrade-x.service: refused",
  ]);
  const machine = await ready();
  machine.silent = true;
  const running = machine.run();
  await machine.clock.advance(10_000);
  assertEquals(machine.starts.length, 0);
  machine.silent = false;
  await machine.clock.advance(2_000);
  assertEquals(machine.starts.length, 1);
  await machine.leave("0");
  assertEquals((await machine.until(running)).succeeded, true);
});

Deno.test("runChange() ends its wait with the updater, and leaves the unit alone", async () => {
  const machine = await ready();
  const stopping = new AbortController();
  const running = machine.run(stopping.signal);
  await machine.clock.advance(2_000);
  stopping.abort(new Error("stopping"));
  await assertRejects(() => machine.until(running), Error, "stopping");
  assertEquals([machine.active, machine.starts.length], ["active", 1]);
});
