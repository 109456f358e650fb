import { assert, assertEquals } from "@std/assert";
import { BUCKETS } from "../../../contracts/buckets.ts";
import { MemoryFleet, sampleDeviceStatus, sampleHeartbeat } from "../../../tests/fakes/memory_fleet.ts";
import { MemoryTerminal } from "../../../tests/fakes/memory_terminal.ts";
import { assertGolden } from "../../../tests/golden/golden.ts";
import type { OutputFormat, Selector } from "../invocation.ts";
import { watchCommand } from "./watch_command.ts";

interface Watch {
  readonly terminal: MemoryTerminal;
  end(): Promise<number>;
}

function watch(
  fleet: MemoryFleet,
  kind: "Device" | "AgentRelease",
  options: { output?: OutputFormat; names?: string[]; selector?: Selector } = {},
): Watch {
  const { output = "table", names = [], selector = {} } = options;
  const terminal = new MemoryTerminal();
  const stop = new AbortController();
  const work = watchCommand(
    { command: "watch", kind, names, selector, output },
    { fleet: fleet.access, terminal },
    stop.signal,
  );
  return {
    terminal,
    end: () => {
      stop.abort();
      return work;
    },
  };
}

async function setStatus(
  fleet: MemoryFleet,
  name: string,
  changes: Parameters<typeof sampleDeviceStatus>[0],
): Promise<void> {
  const stored = await fleet.store.get("Device", name);
  await fleet.store.replaceStatus("Device", name, sampleDeviceStatus(changes), stored?.metadata.resourceVersion ?? "");
}

Deno.test("watch shows what is there, then a line for every change, and ends well", async () => {
  const fleet = await MemoryFleet.open();
  await fleet.device("device-2", ["edge"]);
  await fleet.device(
    "device-1",
    ["edge"],
    sampleDeviceStatus({ desiredRelease: "agent-1-1", desiredReason: "Pending" }),
  );
  await fleet.report(BUCKETS.deviceHeartbeat, "device-1", sampleHeartbeat("device-1"), 3_000);
  const { terminal, end } = watch(fleet, "Device");
  await terminal.shows("device-2");
  await setStatus(fleet, "device-1", { desiredRelease: "agent-1-1", desiredReason: "UpToDate", agentVersion: "1.1.0" });
  await terminal.shows("UpToDate");
  await fleet.store.delete("Device", "device-2");
  await terminal.shows("deleted");
  assertEquals(await end(), 0);
  await assertGolden("fleetctl/watch_devices.txt", terminal.stdout);
});

Deno.test("watch follows names and labels only; who loses a label leaves", async () => {
  const fleet = await MemoryFleet.open();
  await fleet.device("a", [], undefined, { site: "lab" });
  await fleet.device("b", [], undefined, { site: "lab" });
  await fleet.device("c", []);
  const { terminal, end } = watch(fleet, "Device", { output: "json", names: ["a", "c"], selector: { site: "lab" } });
  await terminal.shows('"current"');
  const stored = await fleet.store.get("Device", "a");
  await fleet.store.replace(
    "Device",
    { name: "a", labels: {}, spec: { groups: [] } },
    stored?.metadata.resourceVersion ?? "",
  );
  await terminal.shows('"delete"');
  await end();
  const lines = terminal.stdout.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(lines.map(({ event, name, resource }) => [event, name ?? resource?.metadata.name]), [
    ["put", "a"],
    ["current", undefined],
    ["delete", "a"],
  ]);
});

Deno.test("watch shows nothing twice after a lost connection, and tells of it", async () => {
  const fleet = await MemoryFleet.open();
  await fleet.device("a", []);
  const { terminal, end } = watch(fleet, "Device", { output: "name" });
  await terminal.shows("device/a\n");
  fleet.bus.disconnect();
  fleet.bus.reconnect();
  await fleet.device("b", []);
  await terminal.shows("device/b\n");
  assertEquals(await end(), 0);
  assertEquals(terminal.stdout, "device/a\ndevice/b\n");
  assert(terminal.stderr.includes("the connection is lost"), terminal.stderr);
  assert(terminal.stderr.includes("connected again"), terminal.stderr);
});

Deno.test("watch shows releases, and documents that cannot be read", async () => {
  const fleet = await MemoryFleet.open();
  await fleet.release("r");
  const { terminal, end } = watch(fleet, "AgentRelease");
  await terminal.shows("NAME");
  await (await fleet.bus.bucket(BUCKETS.resources)).put("agentrelease.bad", new TextEncoder().encode("{}"));
  await fleet.release("s");
  await terminal.shows(" s ");
  await end();
  assert(
    terminal.stdout.includes(
      "12:00:00  r     1.1.0      1         0  New                    -          -  -         2h\n",
    ),
    terminal.stdout,
  );
  assert(terminal.stderr.includes("warning: agentrelease/bad cannot be read: "), terminal.stderr);
});
