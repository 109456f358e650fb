/**
 * `docs/fleetctl.md` shows what the program prints: its samples are the golden files, and no option, exit code or code
 * of advice is missing in it.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { decodeProblems } from "../../contracts/decode_problems.ts";
import { connectionConfig } from "../../operator/cli/connection/connection_settings.ts";
import { readManifest } from "../../operator/cli/manifest/read_manifest.ts";
import { parseCommandLine } from "../../operator/cli/command_line.ts";
import { EXIT, EXIT_MEANINGS } from "../../operator/cli/exit_code.ts";
import { DEPLOYMENT_PHASE_NAMES, TARGET_PHASES, TASK_PHASE_NAMES } from "../../operator/cli/invocation.ts";
import { DESIRED_REASONS } from "../../operator/policy/attempt.ts";

const DOC = await Deno.readTextFile(new URL("../../docs/fleetctl.md", import.meta.url));
const SAMPLES = new URL("fleetctl/", import.meta.url);
/** Shown in the tests only: the documentation has a longer one. */
const NOT_SHOWN = new Set(["describe_device_new.txt"]);

Deno.test("docs/fleetctl.md shows every sample as the program prints it", async () => {
  for await (const { name } of Deno.readDir(SAMPLES)) {
    const sample = await Deno.readTextFile(new URL(name, SAMPLES));
    assert(
      NOT_SHOWN.has(name) || DOC.includes(`\`\`\`text\n${sample.trimEnd()}\n\`\`\``),
      `${name} is shown otherwise`,
    );
  }
});

Deno.test("docs/fleetctl.md names every command, option, count and exit code", () => {
  const commands = ["apply", "get", "watch", "describe", "delete", "release pause", "release resume", "release retry"];
  const more = [
    "release devices",
    "deployment devices",
    "task run",
    "task get",
    "task watch",
    "task devices",
    "artifact push",
    "artifact inspect",
  ];
  for (const command of [...commands, ...more]) {
    assert(DOC.includes(`fleetctl ${command}`), command);
    const help = parseCommandLine([...command.split(" "), "--help"], "", null);
    assert(help.kind === "text");
    for (const [option] of help.text.matchAll(/--[a-z][a-z-]+/g)) assert(DOC.includes(option) || SHORT[option], option);
  }
  const root = parseCommandLine(["--help"], "", null);
  assert(root.kind === "text");
  for (const [option] of root.text.matchAll(/--[a-z][a-z-]+/g)) assert(DOC.includes(option) || SHORT[option], option);
  for (const [variable] of root.text.matchAll(/FLEETCTL_[A-Z_]+/g)) assert(DOC.includes(variable), variable);
  for (const phase of [...TARGET_PHASES, ...DEPLOYMENT_PHASE_NAMES, ...TASK_PHASE_NAMES]) {
    assert(DOC.includes(`\`${phase}\``), phase);
  }
  for (const [code, meaning] of EXIT_MEANINGS) assert(DOC.includes(`| ${code} | ${meaning} |`), meaning);
  assert(DOC.includes(`| ${EXIT.outputClosed} |`));
});

/** Options that the documentation shows by their short names. */
const SHORT: Readonly<Record<string, true>> = { "--file": true, "--output": true, "--selector": true, "--help": true };

Deno.test("docs/fleetctl.md explains every reason that keeps a device from its release", () => {
  const well = new Set(["UpToDate", "Upgrading"]);
  for (const reason of DESIRED_REASONS) assert(well.has(reason) || DOC.includes(`\`${reason}\``), reason);
});

Deno.test("docs/fleetctl.md shows documents and settings that are right", () => {
  const block = (language: string) => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(DOC)?.[1] ?? "";
  const { inputs, problems } = readManifest("docs", new TextEncoder().encode(block("yaml")));
  assertEquals([problems, inputs.map(({ input }) => input.kind)], [[], [
    "Device",
    "AgentRelease",
    "FleetDeployment",
    "TaskRun",
  ]]);
  assertEquals(decodeProblems(connectionConfig, JSON.parse(block("json"))), []);
});
