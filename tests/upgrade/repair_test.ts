import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { binaryPath } from "../../contracts/managed_paths.ts";
import { decodeJournal, encodeJournal } from "../../lib/journal/journal_codec.ts";
import { JOURNAL_MAX_BYTES } from "../../contracts/limits.ts";
import { acquireLock } from "../../lib/durable/process_lock.ts";
import { EXIT_CODES } from "../../lib/program.ts";
import { EXIT_QUARANTINED } from "../../updater/commands/status.ts";
import { RECORD_SCHEMA, recordDecoder } from "../../updater/core/record.ts";
import { Fleet } from "../fleet/fleet.ts";
import type { FleetDevice } from "../fleet/fleet_device.ts";
import { waitUntil } from "../nats/wait_until.ts";

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command of the updater's program on a device, as root would. */
async function updaterCommand(fleet: Fleet, device: FleetDevice, ...args: string[]): Promise<Run> {
  const { code, stdout, stderr } = await new Deno.Command(`${fleet.directory}/fleet-updater`, {
    args: [...args, "--root", device.root],
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

async function quarantine(fleet: Fleet, device: FleetDevice): Promise<void> {
  const artifact = await fleet.publish({ version: "2.0.0", defect: "never-ready" });
  const attempt = fleet.attempt(device.id, "2.0.0", artifact);
  await fleet.send(attempt);
  await device.waitForState("starting", ({ transaction }) => transaction?.status.phase === "starting");
  // The exact previous binary is gone when the rollback looks for it.
  await Deno.rename(binaryPath(device.paths, "1.0.0"), `${device.root}/saved`);
  await device.waitForState("rollback-failed", ({ quarantined }) => quarantined);
}

Deno.test("rollback-failed refuses every attempt until root selects a binary that starts", async () => {
  await using fleet = await Fleet.start({ deviceIds: ["device-1"] });
  const device = fleet.device("device-1");
  await fleet.ready();
  await quarantine(fleet, device);

  const status = await updaterCommand(fleet, device, "status");
  assertEquals(status.code, EXIT_QUARANTINED);
  assertStringIncludes(status.out, "fleet-updater repair");
  const json = await updaterCommand(fleet, device, "status", "--output", "json");
  assertEquals(JSON.parse(json.out).transaction.phase, "rollback-failed");

  // The updater's own restart does not lift it.
  await device.killUpdater();
  device.startUpdater();
  await device.waitForState("still quarantined", ({ quarantined }) => quarantined);

  const missing = await updaterCommand(fleet, device, "repair", "--select", "previous");
  assertEquals(missing.code, EXIT_CODES.failed);
  assertStringIncludes(missing.err, "1.0.0");
  const broken = await updaterCommand(fleet, device, "repair", "--select", "2.0.0");
  assertEquals(broken.code, EXIT_CODES.failed);
  assertStringIncludes(broken.err, "did not start");

  await Deno.rename(`${device.root}/saved`, binaryPath(device.paths, "1.0.0"));
  const shown = await updaterCommand(fleet, device, "repair");
  assertEquals(shown.code, EXIT_QUARANTINED);
  assertStringIncludes(shown.out, binaryPath(device.paths, "1.0.0"));
  const repaired = await updaterCommand(fleet, device, "repair", "--select", "1.0.0");
  assertEquals(repaired.code, EXIT_CODES.ok, repaired.err);
  assertEquals(await device.selectedVersion(), "1.0.0");
  const good = await fleet.publish({ version: "2.1.0" });
  const attempt = fleet.attempt(device.id, "2.1.0", good);
  await fleet.send(attempt);
  await fleet.waitForStatus(
    device.id,
    "the next attempt to complete",
    ({ phase, attemptId }) => phase === "complete" && attemptId === attempt.attemptId,
  );
});

/** Ways in which a journal cannot be trusted. */
const CORRUPTIONS: { readonly [name: string]: (bytes: Uint8Array, device: FleetDevice) => Uint8Array } = {
  "truncated": (bytes) => bytes.slice(0, bytes.length >> 1),
  "empty": () => new Uint8Array(),
  "a bit flipped": (bytes) => bytes.map((byte, index) => index === 40 ? byte ^ 1 : byte),
  "of a newer schema": (bytes, device) => rewritten(bytes, device, RECORD_SCHEMA + 1, (text) => text),
  "with an unknown phase": (bytes, device) =>
    rewritten(bytes, device, RECORD_SCHEMA, (text) => text.replace('"phase":"committed"', '"phase":"paused"')),
  "with a path outside of the managed ones": (bytes, device) =>
    rewritten(
      bytes,
      device,
      RECORD_SCHEMA,
      (text) => text.replace(`"previousPath":"${binaryPath(device.paths, "1.0.0")}"`, '"previousPath":"/usr/bin/env"'),
    ),
};

/** The same journal with other content and a checksum that fits it. */
function rewritten(
  bytes: Uint8Array,
  device: FleetDevice,
  schema: number,
  change: (text: string) => string,
): Uint8Array {
  const reader = { schema: RECORD_SCHEMA, body: recordDecoder(device.paths), maxBytes: JOURNAL_MAX_BYTES };
  const { seq, body } = decodeJournal(bytes, reader);
  const before = JSON.stringify(body);
  const after = change(before);
  assert(schema !== RECORD_SCHEMA || after !== before, "the change changes nothing");
  return encodeJournal({ schema, seq, body: JSON.parse(after) }, JOURNAL_MAX_BYTES);
}

Deno.test("a corrupt journal keeps the socket closed and says what to do; root's repair leads out of it", async (t) => {
  await using fleet = await Fleet.start({ deviceIds: ["device-1"] });
  const device = fleet.device("device-1");
  await fleet.ready();
  let version = 1;
  for (const [name, corrupt] of Object.entries(CORRUPTIONS)) {
    await t.step(name, async () => {
      const target = `1.${version++}.0`;
      const artifact = await fleet.publish({ version: target });
      const attempt = fleet.attempt(device.id, target, artifact);
      await fleet.send(attempt);
      await fleet.waitForStatus(
        device.id,
        "complete",
        ({ phase, attemptId }) => phase === "complete" && attemptId === attempt.attemptId,
      );
      await device.killUpdater();
      // Every case begins with a transaction that came from 1.0.0, whatever the steps before left.
      const bytes = await Deno.readFile(device.paths.journal);
      const damaged = corrupt(bytes, device);
      await Deno.writeFile(device.paths.journal, damaged);
      const agent = await device.agentPid();
      device.startUpdater();
      const end = await device.updater?.ended;
      assertEquals(end?.code, EXIT_CODES.configuration);
      assertEquals(await device.state(), null, "the socket is closed");
      assertEquals(await device.agentPid(), agent, "the agent runs on");
      assertEquals(await Deno.readFile(device.paths.journal), damaged, "nothing is changed");
      assertStringIncludes(await Deno.readTextFile(device.updaterLog), "fleet-updater repair");

      const shown = await updaterCommand(fleet, device, "repair");
      assertEquals(shown.code, EXIT_QUARANTINED, shown.err);
      assertStringIncludes(shown.out, "1.0.0");
      const repairing = updaterCommand(fleet, device, "repair", "--select", "1.0.0");
      await waitUntil("the journal to be replaced", async () => {
        const now = await Deno.readFile(device.paths.journal);
        return now.length !== damaged.length || now.some((byte, index) => byte !== damaged[index]);
      });
      await waitUntil("the updater's lock to be free", async () => {
        const lock = await acquireLock(device.paths.updaterLock);
        lock?.release();
        return lock !== null;
      });
      device.startUpdater();
      const repaired = await repairing;
      assertEquals(repaired.code, EXIT_CODES.ok, repaired.err);
      assertEquals(await device.selectedVersion(), "1.0.0");
      const archives = [...Deno.readDirSync(device.paths.stateDirectory)].filter(({ name }) =>
        name.includes("corrupt")
      );
      assertEquals(archives.length, version - 1, "the corrupt journal is kept");
    });
  }
});

Deno.test("a missing journal is a device without a transaction", async () => {
  await using fleet = await Fleet.start({ deviceIds: ["device-1"] });
  const device = fleet.device("device-1");
  await fleet.ready();
  await device.killUpdater();
  await Deno.remove(device.paths.journal).catch(() => {});
  device.startUpdater();
  const state = await device.waitForState("to serve", () => true);
  assertEquals([state.transaction, state.busy, state.quarantined], [null, false, false]);
});
