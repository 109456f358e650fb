/**
 * `docs/wire.md` is what people write clients from, so it must not drift from the decoders: every member, whether it is
 * required, every code, and every sample that it shows is compared with the program.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { agentReleaseSpec, agentReleaseStatus } from "../../contracts/agent_release.ts";
import { agentUpgradeAttempt, agentUpgradeStatus, UPGRADE_PHASES } from "../../contracts/agent_upgrade.ts";
import { BUCKET_SPECS } from "../../contracts/buckets.ts";
import { type Decoder, isOptional, structureOf } from "../../contracts/codec.ts";
import { CONTAINER_STATES, DEPLOYMENT_PHASES, deploymentStatus } from "../../contracts/deployment_status.ts";
import { desiredDeployment, desiredEntry, desiredGeneration } from "../../contracts/desired_state.ts";
import { deviceInfo, heartbeat } from "../../contracts/device.ts";
import { deviceGroups } from "../../contracts/device_groups.ts";
import { devicePermissions } from "../../contracts/device_permissions.ts";
import { deviceSpec, deviceStatus } from "../../contracts/device_resource.ts";
import { fleetDeploymentSpec, fleetDeploymentStatus } from "../../contracts/fleet_deployment.ts";
import { BUCKET_HEADERS_MAX_BYTES } from "../../contracts/limits.ts";
import { podmanV0 } from "../../contracts/podman_workload.ts";
import { READINESS_STEPS } from "../../contracts/readiness.ts";
import { condition, storedMetadata } from "../../contracts/resource.ts";
import { selfTestReport } from "../../contracts/self_test_report.ts";
import {
  SYSTEM_UPGRADE_PHASES,
  SYSTEM_UPGRADE_REASONS,
  systemUpgradeAttempt,
  systemUpgradeStatus,
} from "../../contracts/system_upgrade.ts";
import { taskHistoryRecord, taskPlanChunk, taskPlanManifest } from "../../contracts/task_plan.ts";
import { TASK_RUN_REASONS, taskRunSpec, taskRunStatus } from "../../contracts/task_run.ts";
import {
  attemptOutcome,
  DURABLE_PHASES,
  UPDATER_ERROR_CODES,
  updaterRefusal,
  updaterState,
} from "../../contracts/updater_protocol.ts";

const DOCUMENTS: Readonly<Record<string, Decoder<unknown>>> = {
  agentReleaseSpec,
  agentReleaseStatus,
  agentUpgradeAttempt,
  agentUpgradeStatus,
  attemptOutcome,
  condition,
  deploymentStatus,
  desiredDeployment,
  desiredEntry,
  desiredGeneration,
  deviceGroups,
  deviceInfo,
  deviceSpec,
  deviceStatus,
  fleetDeploymentSpec,
  fleetDeploymentStatus,
  heartbeat,
  podmanV0,
  selfTestReport,
  storedMetadata,
  systemUpgradeAttempt,
  systemUpgradeStatus,
  taskHistoryRecord,
  taskPlanChunk,
  taskPlanManifest,
  taskRunSpec,
  taskRunStatus,
  updaterRefusal,
  updaterState,
};

/** Decoders that are made by hand: they have no structure to compare with. */
const WITHOUT_STRUCTURE = ["updaterRequest", "updaterResponse"];

/** Members whose own members have a table of their own. */
const ELSEWHERE = new Set(["transaction.status", "systemUpgrade", "spec", "conditions", "podmanV0"]);

const page = await Deno.readTextFile(new URL("../../docs/wire.md", import.meta.url));

/** Rows of the table that follows a marker, as cells. */
function tableAfter(marker: string): string[][] {
  const start = page.indexOf(marker);
  assert(start >= 0, `docs/wire.md lacks ${marker}`);
  const lines = page.slice(start + marker.length).split("\n").slice(1);
  const end = lines.findIndex((line) => !line.startsWith("|"));
  return lines.slice(2, end).map((line) => line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim()));
}

function codesIn(cell: string | undefined): string[] {
  return [...(cell ?? "").matchAll(/`([^`]+)`/g)].flatMap(([, code]) => code ?? []);
}

/** Required members, and those that may be absent, by path; `[]` stands for any item. */
type Members = Map<string, boolean>;

function documentedMembers(name: string): Members {
  const members: Members = new Map();
  for (const [names, , required] of tableAfter(`<!-- document: ${name} -->`)) {
    for (const path of codesIn(names)) {
      assert(!members.has(path), `${name}: ${path} stands twice`);
      members.set(path, required === "req");
    }
  }
  return members;
}

/** Members of a decoder; a required object whose members are listed needs no row of its own. */
function decodedMembers(decoder: Decoder<unknown>, documented: Members, path = ""): Members {
  const structure = structureOf(decoder);
  if (structure?.kind === "list") return decodedMembers(structure.item, documented, `${path}[]`);
  if (structure?.kind !== "object") return new Map();
  const members: Members = new Map();
  for (const [name, member] of Object.entries(structure.members)) {
    const at = path === "" ? name : `${path}.${name}`;
    const inner = ELSEWHERE.has(at) ? new Map<string, boolean>() : decodedMembers(member, documented, at);
    const rowNeeded = isOptional(member) || inner.size === 0 || documented.has(at);
    if (rowNeeded) members.set(at, !isOptional(member));
    for (const [innerPath, required] of inner) members.set(innerPath, required);
  }
  return members;
}

for (const [name, decoder] of Object.entries(DOCUMENTS)) {
  Deno.test(`docs/wire.md has every member of ${name}, and whether it is required`, () => {
    const documented = documentedMembers(name);
    const decoded = decodedMembers(decoder, documented);
    const sorted = (members: Members) =>
      [...members].map(([path, required]) => `${path}${required ? " req" : ""}`).sort();
    assertEquals(sorted(documented), sorted(decoded));
  });
}

Deno.test("docs/wire.md has no table of a document that is not compared", () => {
  const marked = [...page.matchAll(/<!-- document: (\w+) -->/g)].flatMap(([, name]) => name ?? []);
  assertEquals(marked.sort(), [...Object.keys(DOCUMENTS), ...WITHOUT_STRUCTURE].sort());
});

Deno.test("docs/wire.md shows the golden samples as they are", async () => {
  const shown = [...page.matchAll(/<!-- sample: (\w+\.json) -->\n```json\n([\s\S]*?)```/g)];
  assertEquals(shown.length, 4);
  for (const [, file = "", body] of shown) {
    assertEquals(body, await Deno.readTextFile(new URL(`./wire/${file}`, import.meta.url)), file);
  }
});

Deno.test("docs/wire.md explains every code, phase and step, in the program's order", () => {
  const firstColumn = (header: string) => tableAfter(header).flatMap(([cell]) => codesIn(cell));
  assertEquals(firstColumn("<!-- table: codes -->"), [...UPDATER_ERROR_CODES]);
  assertEquals(firstColumn("<!-- table: phases -->"), [...UPGRADE_PHASES]);
  assertEquals(firstColumn("<!-- table: system phases -->"), [...SYSTEM_UPGRADE_PHASES]);
  assertEquals(firstColumn("<!-- table: system reasons -->"), [...SYSTEM_UPGRADE_REASONS]);
  assertEquals(firstColumn("<!-- table: run reasons -->"), [...TASK_RUN_REASONS]);
  const steps = /Steps, in order: ([\s\S]*?)\. The same word/.exec(page)?.[1];
  assertEquals(codesIn(steps), [...READINESS_STEPS]);
  assertEquals(firstColumn("<!-- table: deployment phases -->"), [...DEPLOYMENT_PHASES]);
  assertEquals(firstColumn("<!-- table: container states -->"), [...CONTAINER_STATES]);
  const durable = tableAfter("<!-- document: updaterState -->").find(([cell]) => cell === "`transaction.phase`");
  assertEquals(codesIn(durable?.[3]), [...DURABLE_PHASES]);
});

Deno.test("docs/wire.md has every bucket with its bound", () => {
  const rows = tableAfter("<!-- table: buckets -->");
  const documented = new Map(rows.map(([bucket, , , , storage, bytes]) => [codesIn(bucket)[0], [storage, bytes]]));
  assertEquals([...documented.keys()].sort(), BUCKET_SPECS.map(({ name }) => name).sort());
  for (const { name, storage, maxValueBytes } of BUCKET_SPECS) {
    const bytes = (maxValueBytes - BUCKET_HEADERS_MAX_BYTES).toLocaleString("en-US");
    assertEquals(documented.get(name), [storage, bytes], name);
  }
});

/** A documented subject as a pattern over the subjects of device-1. */
function subjectPattern(documented: string): RegExp {
  const escaped = documented.replaceAll(/[$.*]/g, "\\$&");
  const pattern = escaped
    .replaceAll(/KV(_|\\\.)B/g, "KV$1[a-z-]+")
    .replaceAll(/<(?:key|filter)>/g, "device-1(?:\\.[>*])?")
    .replaceAll("<consumer>", "\\*")
    .replaceAll(/<(?:deployment UUID|run)>/g, "\\*")
    .replaceAll("<device>", "device-1");
  return new RegExp(`^${pattern}$`);
}

Deno.test("docs/wire.md lists what a device may do in NATS, and nothing else", () => {
  const { publish, subscribe } = devicePermissions("device-1");
  const allowed = [...publish.allow, ...subscribe.allow];
  const documented = tableAfter("<!-- table: rights -->").flatMap(([, subjects]) => codesIn(subjects)).map(
    subjectPattern,
  );
  const undocumented = allowed.filter((subject) => !documented.some((pattern) => pattern.test(subject)));
  const useless = documented.filter((pattern) => !allowed.some((subject) => pattern.test(subject))).map(String);
  assertEquals([undocumented, useless], [[], []]);
});

Deno.test("docs/wire.md links to files that exist", async () => {
  for (const [, target = ""] of page.matchAll(/\]\((\.\.?\/[^)#]+)\)/g)) {
    await Deno.stat(new URL(target, new URL("../../docs/", import.meta.url)));
  }
});
