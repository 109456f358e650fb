import { assert, assertEquals, assertRejects } from "@std/assert";
import { BUCKETS } from "../../contracts/buckets.ts";
import { FleetError } from "../../contracts/errors.ts";
import { ago, MemoryFleet, sampleDeviceStatus, sampleHeartbeat } from "../../tests/fakes/memory_fleet.ts";
import { MemoryTerminal } from "../../tests/fakes/memory_terminal.ts";
import { BusConnectError } from "../../lib/bus/connect_error.ts";
import { assertGolden } from "../../tests/golden/golden.ts";
import { type FleetctlWorld, runFleetctl } from "./run_fleetctl.ts";

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function world(fleet: MemoryFleet, terminal: MemoryTerminal, changes: Partial<FleetctlWorld> = {}): FleetctlWorld {
  return {
    terminal,
    version: "1.2.3",
    readInput: () => Promise.reject(new FleetError("Cannot read", { code: "E_USAGE" })),
    resolveConnection: () =>
      Promise.resolve({ servers: ["nats://m"], serversFrom: "--server", auth: { kind: "none" }, timeoutMs: 1_000 }),
    openFleet: (_settings, onMalformed) => {
      fleet.onMalformed = onMalformed;
      return Promise.resolve({ ...proxied(fleet), close: () => Promise.resolve() });
    },
    environment: () => undefined,
    signal: new AbortController().signal,
    ...changes,
  };
}

/** The fleet's access, which commands close, while the test goes on with it. */
function proxied({ access }: MemoryFleet) {
  return {
    store: access.store,
    nowMs: () => access.nowMs(),
    heartbeat: (id: string) => access.heartbeat(id),
    heartbeatTimes: (ids: readonly string[] | null) => access.heartbeatTimes(ids),
    upgradeStatus: (id: string) => access.upgradeStatus(id),
    upgradeIntent: (id: string) => access.upgradeIntent(id),
    task: (runId: string) => access.task(runId),
    deployments: (of: Parameters<typeof access.deployments>[0]) => access.deployments(of),
    onConnection: (listener: (connected: boolean) => void) => access.onConnection(listener),
  };
}

async function run(fleet: MemoryFleet, line: string, changes: Partial<FleetctlWorld> = {}): Promise<Run> {
  const terminal = new MemoryTerminal();
  const argv = line.split(" ").filter((part) => part !== "");
  const code = await runFleetctl(argv, world(fleet, terminal, changes));
  return { code, out: terminal.stdout, err: terminal.stderr };
}

/** Five devices, one in each common state. */
async function sampleFleet(): Promise<MemoryFleet> {
  const fleet = await MemoryFleet.open();
  await fleet.release("agent-1-1");
  const target = { desiredRelease: "agent-1-1" };
  await fleet.device(
    "device-1",
    ["edge"],
    sampleDeviceStatus({ ...target, agentVersion: "1.1.0", desiredReason: "UpToDate" }),
    {
      site: "lab",
    },
  );
  await fleet.device(
    "device-2",
    ["edge"],
    sampleDeviceStatus({
      ...target,
      desiredReason: "RolledBack",
      upgrade: {
        attemptId: "00000000-0000-4000-8000-0000000000a1",
        releaseName: "agent-1-1",
        targetVersion: "1.1.0",
        phase: "failed",
        reason: "NeverReady",
        failureClass: "version",
        error: "the candidate did not become ready within its bound",
        startedAt: ago(600_000),
        updatedAt: ago(300_000),
      },
    }),
  );
  await fleet.device(
    "device-3",
    ["edge"],
    sampleDeviceStatus({
      ...target,
      desiredReason: "Upgrading",
      liveness: "Stale",
      upgrade: { phase: "starting", targetVersion: "1.1.0", startedAt: ago(90_000), updatedAt: ago(60_000) },
    }),
  );
  await fleet.device("device-4", [], sampleDeviceStatus({ desiredReason: "NoGroups" }));
  await fleet.device("device-5", ["edge"]);
  await fleet.report(BUCKETS.deviceHeartbeat, "device-1", sampleHeartbeat("device-1"), 12_000);
  await fleet.report(BUCKETS.deviceHeartbeat, "device-3", sampleHeartbeat("device-3"), 200_000);
  return fleet;
}

Deno.test("get devices shows a table with exact heartbeat ages", async () => {
  const fleet = await sampleFleet();
  const { code, out, err } = await run(fleet, "get devices");
  assertEquals([code, err], [0, ""]);
  assertEquals(
    out,
    [
      "NAME      LIVENESS  SEEN  AGENT  RELEASE    STATE       REASON      GROUPS  AGE",
      "device-1  Online    12s   1.1.0  agent-1-1  UpToDate    -           edge    2h",
      "device-2  Online    -     1.0.0  agent-1-1  RolledBack  NeverReady  edge    2h",
      "device-3  Stale     3m    1.0.0  agent-1-1  starting    -           edge    2h",
      "device-4  Online    -     1.0.0  -          NoGroups    -           -       2h",
      "device-5  Unknown   -     -      -          -           -           edge    2h",
      "",
    ].join("\n"),
  );
});

Deno.test("get takes names, labels and formats", async () => {
  const fleet = await sampleFleet();
  assertEquals((await run(fleet, "get devices -l site=lab -o name")).out, "device/device-1\n");
  assertEquals((await run(fleet, "get devices -l site=lab -l site=lab device-2 -o name")).out, "");
  assertEquals((await run(fleet, "get releases -o name")).out, "agentrelease/agent-1-1\n");
  const list = JSON.parse((await run(fleet, "get devices -o json")).out);
  assertEquals([list.apiVersion, list.kind, list.items.length], ["fleet.nationtech.io/v1alpha1", "DeviceList", 5]);
  const single = JSON.parse((await run(fleet, "get device device-1 -o json")).out);
  assertEquals([single.kind, single.metadata.name, single.status.agentVersion], ["Device", "device-1", "1.1.0"]);
});

Deno.test("get tells names that do not exist, with the nearest one, and shows the others", async () => {
  const fleet = await sampleFleet();
  const { code, out, err } = await run(fleet, "get devices device-1 devise-2 -o name");
  assertEquals([code, out], [3, "device/device-1\n"]);
  assertEquals(err, 'fleetctl: there is no device "devise-2"; did you mean device-2?\n');
  assertEquals((await run(fleet, "get device nobody -o json")).out, "");
});

Deno.test("get says what an empty list means", async () => {
  const fleet = await MemoryFleet.open();
  const devices = await run(fleet, "get devices");
  assertEquals([devices.code, devices.out], [0, ""]);
  assert(devices.err.includes("there are no devices yet"));
  assert((await run(fleet, "get releases")).err.includes("fleetctl apply --help"));
  assert((await run(fleet, "get devices -l a=b")).err.includes("no devices have these labels"));
  assertEquals(JSON.parse((await run(fleet, "get devices -o json")).out).items, []);
});

Deno.test("get works without heartbeats, and says so", async () => {
  const fleet = await sampleFleet();
  fleet.lose(BUCKETS.deviceHeartbeat);
  const { code, out, err } = await run(fleet, "get devices");
  assertEquals([code, out.split("\n").length], [0, 7]);
  assert(err.startsWith("fleetctl: heartbeats cannot be read, so SEEN stays empty"), err);
});

Deno.test("get names stored documents that cannot be read, and lists the others", async () => {
  const fleet = await sampleFleet();
  await (await fleet.bus.bucket(BUCKETS.resources)).put("device.bad", new TextEncoder().encode("{}"));
  const { code, out, err } = await run(fleet, "get devices -o name");
  assertEquals([code, out.split("\n").length], [0, 6]);
  assert(err.startsWith("fleetctl: warning: device/bad cannot be read and is left out: "), err);
  const named = await run(fleet, "get device bad");
  assertEquals(named.code, 1);
  assert(named.err.includes("fleetctl delete removes such a document"), named.err);
  assertEquals((await run(fleet, "delete device bad")).out, "device/bad deleted\n");
});

Deno.test("what get prints can be applied, and changes nothing", async () => {
  const fleet = await sampleFleet();
  for (
    const line of ["get devices -o yaml", "get devices -o json", "get device device-2 -o json", "get releases -o yaml"]
  ) {
    const { out } = await run(fleet, line);
    const applied = await run(fleet, "apply -f -", { readInput: () => Promise.resolve(new TextEncoder().encode(out)) });
    assertEquals(applied.code, 0, applied.err);
    assert(applied.out.split("\n").slice(0, -1).every((row) => row.endsWith(" unchanged")), applied.out);
  }
});

const DEVICE_FILE = `apiVersion: fleet.nationtech.io/v1alpha1
kind: Device
metadata: {name: device-4}
spec: {groups: [edge]}
`;
const reads = (text: string): Partial<FleetctlWorld> => ({
  readInput: () => Promise.resolve(new TextEncoder().encode(text)),
});

Deno.test("apply tells what it did, and a dry run what it would do", async () => {
  const fleet = await sampleFleet();
  const preview = await run(fleet, "apply -f x.yaml --dry-run", reads(DEVICE_FILE));
  assertEquals(
    preview.out,
    [
      "device/device-4 configured (dry run)",
      '  ~ spec.groups: [] -> ["edge"]',
      "  release: none (NoGroups) -> agent-1-1 (upgrade to 1.1.0)",
      "nothing was changed; by the groups of Device.spec.groups, applying this would start an upgrade on 1 device",
      "",
    ].join("\n"),
  );
  assertEquals((await fleet.store.get("Device", "device-4"))?.spec.groups, []);
  const json = JSON.parse((await run(fleet, "apply -f x.yaml --dry-run -o json", reads(DEVICE_FILE))).out);
  assertEquals([json.dryRun, json.results[0].action, json.impact.newAttempts], [true, "configured", 1]);
  assertEquals((await run(fleet, "apply -f x.yaml", reads(DEVICE_FILE))).out, "device/device-4 configured\n");
  assertEquals((await run(fleet, "apply -f x.yaml", reads(DEVICE_FILE))).out, "device/device-4 unchanged\n");
  const created = await run(fleet, "apply -f x.yaml -o json", reads(DEVICE_FILE.replace("device-4", "device-9")));
  assertEquals(JSON.parse(created.out).results[0].action, "created");
});

Deno.test("apply applies nothing when any document is wrong, and needs no connection to say so", async () => {
  const fleet = await sampleFleet();
  const bad = `${DEVICE_FILE}---\n${DEVICE_FILE.replace("device-4", "device-5").replace("groups", "group")}`;
  const { code, out, err } = await run(fleet, "apply -f fleet.yaml", {
    ...reads(bad),
    openFleet: () => Promise.reject(new Error("must not be called")),
  });
  assertEquals([code, out], [7, ""]);
  await assertGolden("fleetctl/apply_wrong_document.txt", err);
  assertEquals((await fleet.store.get("Device", "device-4"))?.spec.groups, []);
});

Deno.test("apply says how far it came when an error stops it", async () => {
  const fleet = await sampleFleet();
  const { access } = fleet;
  let writes = 0;
  const store = new Proxy(access.store, {
    get: (target, name) => {
      if (name !== "create") return Reflect.get(target, name).bind(target);
      return (...args: unknown[]) => {
        if (writes++ > 0) return Promise.reject(new FleetError("Cannot write: no answer", { code: "E_BUS_TIMEOUT" }));
        return Reflect.apply(target.create, target, args);
      };
    },
  });
  const files = ["a", "b", "c"].map((name) => DEVICE_FILE.replace("device-4", name)).join("---\n");
  const { code, out, err } = await run(fleet, "apply -f x", {
    ...reads(files),
    openFleet: () => Promise.resolve({ ...proxied(fleet), store, close: () => Promise.resolve() }),
  });
  assertEquals([code, out], [5, "device/a created\n"]);
  assert(err.includes("1 of 3 documents were applied before the error"), err);
});

Deno.test("delete deletes, and says what comes back", async () => {
  const fleet = await sampleFleet();
  const device = await run(fleet, "delete device/device-1");
  assertEquals([device.code, device.out], [0, "device/device-1 deleted\n"]);
  assert(device.err.includes("comes back with its next device info"));
  const twice = await run(fleet, "delete release agent-1-1 agent-1-1 agent-1-2");
  assertEquals([twice.code, twice.out], [3, "agentrelease/agent-1-1 deleted\n"]);
  assertEquals((await run(fleet, "delete release agent-1-1 --ignore-not-found")).code, 0);
});

Deno.test("delete knows what it has deleted, whether a write without an answer happened or not", async () => {
  for (const lost of ["applied", "not-applied"] as const) {
    const fleet = await sampleFleet();
    fleet.bus.loseNextAnswer = lost;
    const { code, out } = await run(fleet, "delete device device-1");
    assertEquals([code, out], [0, "device/device-1 deleted\n"]);
    assertEquals(await fleet.store.get("Device", "device-1"), null);
  }
});

Deno.test("release pause, resume and retry change one field each", async () => {
  const fleet = await sampleFleet();
  const spec = async () => (await fleet.store.get("AgentRelease", "agent-1-1"))?.spec;
  assertEquals((await run(fleet, "release pause agent-1-1")).out, "agentrelease/agent-1-1 paused\n");
  assertEquals(
    (await run(fleet, "release pause agent-1-1")).out,
    "agentrelease/agent-1-1 unchanged (it is paused already)\n",
  );
  const retry = await run(fleet, "release retry agent-1-1");
  assertEquals(retry.out, "agentrelease/agent-1-1 retried (revision 1 -> 2)\n");
  assert(retry.err.includes("it is paused, so that none does yet: fleetctl release resume agent-1-1"));
  assertEquals([(await spec())?.paused, (await spec())?.revision], [true, 2]);
  assertEquals((await run(fleet, "release resume agent-1-1")).out, "agentrelease/agent-1-1 resumed\n");
  const missing = await run(fleet, "release retry agent-1-2");
  assertEquals([missing.code, missing.out], [3, ""]);
  assert(missing.err.includes("did you mean agent-1-1?"));
});

Deno.test("release devices lists exactly what a count counts", async () => {
  const fleet = await sampleFleet();
  const names = async (phase: string) => (await run(fleet, `release devices agent-1-1 --phase ${phase} -o name`)).out;
  assertEquals(await names("targets"), "device/device-1\ndevice/device-2\ndevice/device-3\n");
  assertEquals(await names("current"), "device/device-1\n");
  assertEquals(await names("rolled-back"), "device/device-2\n");
  assertEquals(await names("upgrading"), "device/device-3\n");
  assertEquals(await names("failed"), "");
  const table = await run(fleet, "release devices agent-1-1 --phase rolled-back");
  assertEquals(
    table.out,
    [
      "NAME      LIVENESS  SEEN  AGENT  COUNTED      STATE       REASON      SINCE  ERROR",
      "device-2  Online    -     1.0.0  rolled-back  RolledBack  NeverReady  5m     the candidate did not become ready within its bound",
      "",
    ].join("\n"),
  );
  const none = await run(fleet, "release devices agent-1-1 --phase lost");
  assertEquals([none.code, none.out, none.err], [0, "", "fleetctl: no device of agent-1-1 is lost\n"]);
  assertEquals((await run(fleet, "release devices nothing")).code, 3);
});

Deno.test("help, version and a wrong line need no fleet", async () => {
  const fleet = await MemoryFleet.open();
  const offline = { openFleet: () => Promise.reject(new Error("must not be called")) };
  assertEquals(await run(fleet, "--version", offline), { code: 0, out: "1.2.3\n", err: "" });
  const help = await run(fleet, "get --help", offline);
  assertEquals([help.code, help.out.includes("Examples:")], [0, true]);
  const wrong = await run(fleet, "gett devices", offline);
  assertEquals([wrong.code, wrong.out], [2, ""]);
  assert(wrong.err.startsWith("fleetctl: unknown command 'gett'\n(Did you mean get?)"), wrong.err);
  const name = await run(fleet, "describe device Not_A_Name");
  assertEquals(name.code, 2);
});

Deno.test("an interrupt ends a command at once with the signal's reason", async () => {
  const fleet = await sampleFleet();
  const stop = new AbortController();
  const never = run(fleet, "get devices", { openFleet: () => new Promise(() => {}), signal: stop.signal });
  stop.abort(new Error("stopped"));
  await assertRejects(() => never, Error, "stopped");
});

Deno.test("a closed output ends a command quietly", async () => {
  const fleet = await sampleFleet();
  const terminal = new MemoryTerminal();
  terminal.closed = true;
  assertEquals(await runFleetctl(["get", "devices"], world(fleet, terminal)), 141);
  assertEquals(terminal.stderr, "");
});

Deno.test("a server that cannot be reached is told with where it was looked for and what to do", async () => {
  const fleet = await MemoryFleet.open();
  const why = "Cannot connect to NATS at 127.0.0.1:4222: Connection refused (os error 111)";
  const { code, err } = await run(fleet, "get devices", {
    resolveConnection: () =>
      Promise.resolve({
        servers: ["nats://127.0.0.1:4222"],
        serversFrom: "the default",
        auth: { kind: "none" },
        timeoutMs: 15_000,
      }),
    openFleet: () => Promise.reject(new BusConnectError("network", why)),
  });
  assertEquals(code, 5);
  await assertGolden("fleetctl/unreachable.txt", err);
});

Deno.test("get names a bounded number of documents that cannot be read", async () => {
  for (const [count, shown] of [[19, 19], [20, 20], [21, 20]] as const) {
    const fleet = await MemoryFleet.open();
    const bucket = await fleet.bus.bucket(BUCKETS.resources);
    for (let index = 0; index < count; index++) await bucket.put(`device.bad-${index}`, new TextEncoder().encode("{}"));
    const { err } = await run(fleet, "get devices -o name");
    assertEquals(err.split("cannot be read and is left out").length - 1, shown);
    assertEquals(err.includes("and 1 more"), count > shown);
  }
});

Deno.test("get reads the same heartbeats one by one and as a snapshot", async () => {
  for (const count of [15, 16, 17]) {
    const fleet = await MemoryFleet.open();
    for (let index = 0; index < count; index++) {
      await fleet.device(`d${index}`, []);
      await fleet.report(BUCKETS.deviceHeartbeat, `d${index}`, sampleHeartbeat(`d${index}`), 7_000);
    }
    assertEquals((await run(fleet, "get devices")).out.split(" 7s ").length - 1, count);
  }
});
