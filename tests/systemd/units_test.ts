import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import { fileURLToPath } from "node:url";
import * as limits from "../../contracts/limits.ts";
import { managedPaths } from "../../contracts/managed_paths.ts";

const FOLDER = fileURLToPath(new URL("../../deploy/systemd", import.meta.url));
const AGENT = "fleet-agent.service";
const UPDATER = "fleet-updater.service";

function hasAnalyze(): boolean {
  try {
    return new Deno.Command("systemd-analyze", { args: ["--version"], stdout: "null", stderr: "null" }).outputSync()
      .success;
  } catch {
    return false;
  }
}

async function analyze(args: readonly string[]): Promise<string> {
  const { stdout, stderr, code } = await new Deno.Command("systemd-analyze", {
    args: [...args],
    env: { LC_ALL: "C.UTF-8", SYSTEMD_COLORS: "0" },
    stdin: "null",
  }).output();
  return `${code}\n${new TextDecoder().decode(stdout)}${new TextDecoder().decode(stderr)}`;
}

async function settings(unit: string): Promise<Map<string, string>> {
  const lines = (await Deno.readTextFile(`${FOLDER}/${unit}`)).split("\n").filter((line) => /^[A-Z]/.test(line));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}

/** Milliseconds of a time span as the units write it. */
function spanMs(text: string | undefined): number {
  const [, amount = "", unit = ""] = /^([0-9]+)(s|min)$/.exec(text ?? "") ?? [];
  return Number(amount) * (unit === "min" ? 60_000 : 1_000);
}

Deno.test("the agent's unit has the seed's bounds, and starts without the updater", async () => {
  const unit = await settings(AGENT);
  assertEquals(spanMs(unit.get("TimeoutStartSec")), limits.SERVICE_START_TIMEOUT_MS);
  assertEquals(spanMs(unit.get("TimeoutStopSec")), limits.SERVICE_STOP_TIMEOUT_MS);
  assertEquals(spanMs(unit.get("RestartSec")), limits.SERVICE_RESTART_DELAY_MS);
  assertEquals([unit.get("Type"), unit.get("NotifyAccess"), unit.get("Restart")], ["notify", "main", "always"]);
  assertEquals([unit.get("User"), unit.get("StartLimitIntervalSec")], ["fleet-agent", "0"]);
  assertEquals(unit.get("ExecStart"), `${managedPaths().agentLink} --config ${managedPaths().agentConfig}`);
  assertEquals(unit.get("Wants"), UPDATER);
  for (const tie of ["Requires", "BindsTo", "PartOf", "Requisite"]) assert(!unit.has(tie), tie);
  // The directory goes with its unit: only the updater, which owns the socket, may name it.
  assert(!unit.has("RuntimeDirectory"));
});

Deno.test("the updater's unit owns the runtime directory, and its end ends nothing that it ordered", async () => {
  const unit = await settings(UPDATER);
  assertEquals([unit.get("RuntimeDirectory"), unit.get("RuntimeDirectoryPreserve")], ["harmony-fleet", "yes"]);
  assertEquals([unit.get("KillMode"), unit.get("Restart"), unit.get("StartLimitIntervalSec")], [
    "process",
    "always",
    "0",
  ]);
  // Configuration and journal errors of the program's exit codes.
  assertEquals(unit.get("RestartPreventExitStatus"), "78");
  assertLessOrEqual(limits.UPDATER_SHUTDOWN_MS, spanMs(unit.get("TimeoutStopSec")));
});

Deno.test({
  name: "systemd-analyze verify finds nothing wrong in the units",
  ignore: !hasAnalyze(),
  fn: async () => {
    const root = await Deno.makeTempDir();
    try {
      for (const folder of ["etc/systemd/system", "usr/local/bin", "usr/local/sbin"]) {
        await Deno.mkdir(`${root}/${folder}`, { recursive: true });
      }
      for (const path of ["usr/local/bin/fleet-agent", "usr/local/sbin/fleet-updater"]) {
        await Deno.writeTextFile(`${root}/${path}`, "#!/bin/sh\n", { mode: 0o755 });
      }
      for (const unit of [AGENT, UPDATER]) {
        await Deno.copyFile(`${FOLDER}/${unit}`, `${root}/etc/systemd/system/${unit}`);
      }
      const report = await analyze(["verify", `--root=${root}`, "--recursive-errors=no", AGENT, UPDATER]);
      assertEquals(report, "0\n");
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  },
});

for (const [unit, exposureMax] of [[AGENT, 2.0], [UPDATER, 5.0]] as const) {
  Deno.test({
    name: `systemd-analyze security: ${unit} has an exposure of at most ${exposureMax.toFixed(1)}`,
    ignore: !hasAnalyze(),
    fn: async () => {
      const report = await analyze(["security", "--offline=yes", `${FOLDER}/${unit}`]);
      const exposure = Number(/exposure level for \S+: ([0-9.]+)/.exec(report)?.[1]);
      assertLessOrEqual(exposure, exposureMax, report);
    },
  });
}
