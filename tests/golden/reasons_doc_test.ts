/**
 * Every reason that a program writes is explained in `docs/wire.md`, and no other. Reasons are strings in the code of the
 * daemons; they are found there by the few forms in which one is written.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { DEPLOYMENT_REASONS } from "../../contracts/deployment_status.ts";
import { SYSTEM_UPGRADE_REASONS } from "../../contracts/system_upgrade.ts";
import { TASK_RUN_REASONS } from "../../contracts/task_run.ts";
import { DESIRED_REASONS } from "../../operator/policy/attempt.ts";
import { reasonOfCode } from "../../updater/effects.ts";
import { UPDATER_FAILURES } from "../../updater/system_upgrade/core/failure_class.ts";

const ROOT = new URL("../../", import.meta.url);
const page = await Deno.readTextFile(new URL("docs/wire.md", ROOT));

/** Reasons in the first column, or another one, of the table behind a marker. */
function documented(marker: string, column = 1): string[] {
  const start = page.indexOf(`<!-- table: ${marker} -->`);
  assert(start >= 0, marker);
  const table = page.slice(start).split("\n\n")[0] ?? "";
  return table.split("\n").slice(3).flatMap((row) => {
    const cell = row.split("|")[column] ?? "";
    return [...cell.matchAll(/`([A-Z][A-Za-z]*)`/g)].flatMap(([, name]) => name ?? []);
  });
}

async function sourceOf(folder: string): Promise<string> {
  let text = "";
  for await (const { name, isDirectory, isFile } of Deno.readDir(new URL(`${folder}/`, ROOT))) {
    // Reasons of a system upgrade are a closed list, which has a table of its own.
    if (isDirectory && name === "system_upgrade") continue;
    if (isDirectory) text += await sourceOf(`${folder}/${name}`);
    else if (isFile && /(?<!_test)\.ts$/.test(name)) {
      text += await Deno.readTextFile(new URL(`${folder}/${name}`, ROOT));
    }
  }
  return text;
}

function all(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].flatMap(([, found]) => found ?? []);
}

/** The forms in which a status gets its reason. */
const FORMS = [
  /\breason: "([A-Z]\w+)"/g,
  /\b(?:finding|policy)\(\s*"([A-Z]\w+)"/g,
  /\bfailed\(\s*run,\s*"\w+",\s*"([A-Z]\w+)"/g,
  /\bnotStarted\(\s*"\w+",\s*"([A-Z]\w+)"/g,
  /\binvalid\(\s*revision,\s*"([A-Z]\w+)"/g,
  /\bfield === "attemptId" \? "([A-Z]\w+)" :/g,
  /^ {2}E_[A-Z_]+: "([A-Z]\w+)",$/gm,
  /\?\? "([A-Z]\w+)", failureClass, error/g,
  /\bJOURNAL_CORRUPT = "([A-Z]\w+)"/g,
];
/** Of an intent that waits, which the heartbeat's table has. */
const DEFERRED = ["UpdaterBusy", "UpdaterQuarantined", "UpdaterUnavailable"];

Deno.test("docs/wire.md explains every reason of a status", async () => {
  const updater = await sourceOf("updater");
  const protocol = await Deno.readTextFile(new URL("contracts/updater_protocol.ts", ROOT));
  const text = updater + await sourceOf("agent") + protocol;
  const codes = [
    ...all(await sourceOf("lib/fetch") + await sourceOf("lib/oci"), /"(E_FETCH_[A-Z_]+)"/g),
    ...all(updater, /"(E_(?:DISK_SPACE|DIGEST_MISMATCH))"/g),
    "E_BYTE_LIMIT",
    "E_FS_ENOSPC",
    "E_FS_EDQUOT",
  ];
  const written = new Set([...FORMS.flatMap((form) => all(text, form)), ...codes.map(reasonOfCode)]);
  const elsewhere: readonly string[] = [...DEFERRED, ...DEPLOYMENT_REASONS];
  const found = [...written].filter((reason) => !elsewhere.includes(reason));
  assertEquals(documented("reasons").sort(), found.sort());
});

Deno.test("docs/wire.md explains every reason of a deployment", () => {
  assertEquals(documented("deployment reasons"), [...DEPLOYMENT_REASONS]);
});

Deno.test("docs/wire.md explains every reason of a device's release", () => {
  assertEquals(documented("desired reasons"), [...DESIRED_REASONS]);
});

Deno.test("docs/wire.md lists every condition with its reasons", async () => {
  const texts = await Promise.all(
    ["accepted_condition", "release_status", "deployment_status", "task_run_status", "device_plan"].map((name) =>
      Deno.readTextFile(new URL(`operator/policy/${name}.ts`, ROOT))
    ),
  );
  const device = texts.at(-1) ?? "";
  const release = texts.slice(0, -1).join();
  const types = all(release + device, /\btype: "([A-Z]\w+)"/g);
  assertEquals(documented("conditions").sort(), [...new Set(types)].sort());
  const written = [...all(release + device, /\breason: "([A-Z]\w+)"/g), ...all(release, /[?:] "([A-Z]\w+)"[ ;]/g)];
  // The statuses of conditions are no reasons.
  const reasonsOf = (names: string[]) =>
    [...new Set(names)].filter((name) => !["True", "False", "Unknown"].includes(name)).sort();
  assertEquals(reasonsOf(documented("conditions", 3)), reasonsOf(written));
});

Deno.test("docs/wire.md explains every reason of a system upgrade, each with its class", () => {
  assertEquals(documented("system reasons"), [...SYSTEM_UPGRADE_REASONS]);
  const start = page.indexOf("<!-- table: system reasons -->");
  const rows = (page.slice(start).split("\n\n")[0] ?? "").split("\n").slice(3);
  const classes = new Map(
    rows.map((row) => row.split("|").map((cell) => cell.replaceAll("`", "").trim()).slice(1, 3)) as [
      string,
      string,
    ][],
  );
  for (const [reason, failureClass] of Object.entries(UPDATER_FAILURES)) {
    assertEquals([reason, classes.get(reason)], [reason, failureClass]);
  }
});

Deno.test("docs/operations.md says what to do about every reason of a run and of a system upgrade", async () => {
  const operations = await Deno.readTextFile(new URL("docs/operations.md", ROOT));
  const section = (title: string) => {
    const start = operations.indexOf(`\n## ${title}\n`);
    assert(start >= 0, title);
    return operations.slice(start, operations.indexOf("\n## ", start + 1));
  };
  const named = (text: string) => new Set(all(text, /`([A-Z][A-Za-z]+)`/g));
  const runs = named(section("A run that failed"));
  const well = new Set(["CanariesReleased", "AllReleased", "AllSucceeded"]);
  assertEquals(TASK_RUN_REASONS.filter((reason) => !well.has(reason) && !runs.has(reason)), []);
  const upgrades = named(section("A failed system upgrade"));
  // What went well, and what a person has asked for.
  const asked = new Set(["Upgraded", "Rebooted", "NothingToDo", "Withdrawn"]);
  assertEquals(SYSTEM_UPGRADE_REASONS.filter((reason) => !asked.has(reason) && !upgrades.has(reason)), []);
});
