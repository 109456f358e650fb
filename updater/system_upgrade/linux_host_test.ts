import { assertEquals, assertStringIncludes } from "@std/assert";
import { FakeClock } from "../../tests/fakes/fake_clock.ts";
import { MemoryFileSystem } from "../../tests/fakes/memory_file_system.ts";
import { REBOOT_RETRY_WINDOW_MS, REBOOT_UNDER_WAY_MS } from "../../contracts/limits.ts";
import { silentLogger } from "../../lib/log.ts";
import type { ToolRun } from "../systemd/system_tool.ts";
import { linuxHost } from "./linux_host.ts";

/** A machine that goes down, or does not, some time after it was told to. */
function machine({ inhibited = false, delayMs = 0 }) {
  const clock = new FakeClock();
  const disk = new MemoryFileSystem();
  let orderedMs = Number.POSITIVE_INFINITY;
  let orders = 0;
  const answer = (text: string): Promise<ToolRun> =>
    Promise.resolve({ end: "exit", exitCode: 0, stdout: new TextEncoder().encode(`${text}\n`), message: "" });
  const host = linuxHost({
    fs: disk,
    clock,
    log: silentLogger,
    tool: (program) => {
      const isOrdered = clock.monotonicMs() >= orderedMs;
      if (program === "busctl") return answer(isOrdered ? "b true" : "b false");
      return answer(clock.monotonicMs() >= orderedMs + delayMs ? "stopping" : "running");
    },
    command: (words) => {
      orders++;
      assertEquals(words.includes("--check-inhibitors=yes"), true);
      if (!inhibited) orderedMs = clock.monotonicMs();
      const lines = inhibited ? ['Operation inhibited by "lab"'] : [];
      return Promise.resolve({ command: "systemctl reboot", stdout: "", succeeded: !inhibited, lines });
    },
    deviceOf: (path) => Promise.resolve(path === "/boot/firmware" ? null : path === "/boot" ? 2 : 1),
  });
  return { clock, disk, host, orders: () => orders };
}

const NEVER = new AbortController().signal;

Deno.test("reboot() is ordered again while it is refused, and then told as refused", async () => {
  const { clock, host, orders } = machine({ inhibited: true });
  const result = await clock.advanceUntil(host.reboot(NEVER), 2 * REBOOT_RETRY_WINDOW_MS);
  assertEquals(result.ok ? "ok" : result.finding.reason, "RebootRefused");
  if (!result.ok) assertStringIncludes(result.finding.error, "inhibited");
  assertEquals(orders() > 10, true);
});

Deno.test("reboot() waits for the end of the process once it shows, also after those who delay it", async () => {
  for (const delayMs of [0, 5_000]) {
    const { clock, host, orders } = machine({ delayMs });
    let settled = false;
    const running = host.reboot(NEVER);
    running.then(() => settled = true);
    await clock.advance(REBOOT_UNDER_WAY_MS - 10_000);
    assertEquals([settled, orders()], [false, 1]);
    const result = await clock.advanceUntil(running, REBOOT_UNDER_WAY_MS);
    assertEquals(result.ok ? "ok" : result.finding.reason, "RebootRefused");
  }
});

Deno.test("spaces() asks for the file systems that are there; a reboot is due when the system says so", async () => {
  const { disk, host } = machine({});
  for (const path of ["/usr", "/var/cache/apt/archives", "/boot"]) await disk.makeDirectory(path, 0o755);
  assertEquals((await host.spaces()).map(({ path, device }) => `${path} ${device}`), [
    "/ 1",
    "/usr 1",
    "/var 1",
    "/var/cache/apt/archives 1",
    "/boot 2",
  ]);
  assertEquals(await host.isRebootDue(), false);
  await disk.makeDirectory("/run", 0o755);
  const file = await disk.create("/run/reboot-required", 0o644);
  await file.close();
  assertEquals(await host.isRebootDue(), true);
});
