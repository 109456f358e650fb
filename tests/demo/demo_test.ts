import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { DemoProcess } from "./demo_process.ts";

const IDS = ["device-1", "device-2", "device-3", "device-4", "device-5"];
const COMPLETES = "preparing > stopping > starting > complete";
const ROLLED_BACK = "preparing > stopping > starting > rolling-back > failed";
const REFUSED = "preparing > failed";

/** What must have been checked and found, white space aside. */
const ENDS = [
  "devices without a group: 5 x agent 1.0.0, NoGroups",
  ...IDS.map((id) => `${id}, 1.1.0: ${COMPLETES}; 1.1.0 runs`),
  `device-1, a release that starts and never says READY: ${ROLLED_BACK} (NeverReady, version); 1.1.0 runs`,
  `device-2, a release that exits 0 before READY: ${ROLLED_BACK} (ExitedBeforeReady, version); 1.1.0 runs`,
  `device-3, a release that exits 1: ${ROLLED_BACK} (ExitedBeforeReady, version); 1.1.0 runs`,
  `device-4, a release that has another version compiled in: ${REFUSED} (VersionMismatch, version); 1.1.0 runs`,
  `device-5, a release that fails its self-test: ${REFUSED} (SelfTestFailed, version); 1.1.0 runs`,
  `device-4, a release that names another SHA-256: ${REFUSED} (DigestMismatch, policy); 1.1.0 runs`,
  `device-5, a release that is one byte larger than it allows: ${REFUSED} (FetchTooLarge, policy); 1.1.0 runs`,
  "device-3, exit code in the post-mortem: 1",
  ...IDS.map((id) => `${id}, a further attempt of what has failed: none`),
  "device-2, the journal of the killed updater: activating",
  `device-2, an updater that was killed: ${ROLLED_BACK} (Interrupted, environment); 1.1.0 runs`,
  `device-2, 1.3.0 again: ${COMPLETES}; 1.3.0 runs`,
  ...IDS.map((id) => `${id}, 2.0.0: ${COMPLETES}; 2.0.0 runs`),
  "devices in the end: 5 x agent 2.0.0, UpToDate, Online",
];

const FIGURES = [
  /an upgrade, from its attempt to complete +median [0-9.]+ s, max [0-9.]+ s \(10 upgrades\)/,
  /of it without an agent: stop to READY +median [0-9.]+ s, max [0-9.]+ s \(10 upgrades\)/,
  /a rollback, until the previous agent is READY +median [0-9.]+ s, max [0-9.]+ s \(4 rollbacks\)/,
  /an artifact \(script form\) +[0-9.]+ KiB/,
  /the whole demo +[0-9.]+ s/,
];

function assertTold(output: string): void {
  const words = output.replaceAll(/\s+/g, " ");
  for (const end of ENDS) assertStringIncludes(words, `ok ${end}`);
  for (const figure of FIGURES) assertMatch(output, figure);
  assert(!output.includes("WRONG"), output);
  assertMatch(output, /Every step ended as it must \([0-9]+ checks\)\./);
  // Commands as a person would type them, and what they printed.
  for (const command of ["get devices", "apply -f agent-1-1.yaml --dry-run", "describe device device-3"]) {
    assertStringIncludes(output, `  $ fleetctl ${command}\n    `);
  }
  assertStringIncludes(output, "broken on purpose: exits with 1");
  assert(!output.includes("\u001b"), "plain lines have no controls");
}

/** The README shows a run; its commands and findings must be those of this one. */
async function assertPictured(output: string): Promise<void> {
  const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));
  const [, picture = ""] = /<!-- demo:[^]*?```text\n([^]*?)```/.exec(readme) ?? [];
  const shown = picture.split("\n").filter((line) => /^ {2}(?:\$|ok) |^[1-9A-Z]/.test(line));
  assert(shown.length > 15, "README.md has no picture of the demo");
  const told = output.replaceAll(/\s+/g, " ");
  for (const line of shown.map((text) => text.trim().replaceAll(/\s+/g, " "))) {
    if (!line.startsWith("Every step")) assertStringIncludes(told, ` ${line} `);
  }
}

async function assertNothingLeft(demo: DemoProcess): Promise<void> {
  assertEquals([await demo.files(), await demo.processes()], [[], 0]);
}

/** A shell script and JavaScript at once: a run that has begun may read the rest of its file as either. */
const BROKEN_PROGRAM = `#!/bin/sh
":" //; echo broken by the test; exit 3
console.log("broken by the test"); Deno.exit(3);
`;

async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await Deno.makeTempDir();
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

Deno.test("the demo tells its story to a good end, and leaves nothing behind", async () => {
  await using demo = await DemoProcess.start(["--plain"]);
  assertEquals(await demo.end(), 0, demo.output);
  assertTold(demo.output);
  await assertPictured(demo.output);
  await assertNothingLeft(demo);
});

Deno.test("--keep leaves a fleet that can be driven as it says, until Ctrl-C", async () => {
  await using demo = await DemoProcess.start(["--keep"]);
  await using home = await temporaryFolder();
  const [, setUp = ""] = await demo.printed(/In another terminal:\n\n((?: {2}.*\n)+)/);
  await demo.printed(/NATS listens on/);
  const inOtherTerminal = async (command: string): Promise<string> => {
    const { stdout, stderr } = await new Deno.Command("/bin/sh", {
      args: ["-ec", `${setUp}${command}`],
      clearEnv: true,
      env: { PATH: "/usr/bin:/bin", HOME: home.path },
      stdin: "null",
    }).output();
    return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  };
  const [deleting] = /fleetctl delete release [^ ]+/.exec(demo.output) ?? [""];
  const [status] = /fleet-updater status --root [^ ]+/.exec(demo.output) ?? [""];
  assertMatch(await inOtherTerminal("fleetctl get devices"), /device-5 +Online .* 2\.0\.0 +agent-2-0 +UpToDate/);
  assertStringIncludes(await inOtherTerminal(status), "2.0.0");
  assertStringIncludes(await inOtherTerminal(deleting), "agentrelease/agent-2-0 deleted");
  await demo.printed(/device-2 +1\.3\.0 +complete +1\.3\.0 is READY and stays\n[^]*device-2 +1\.3\.0 +complete/);
  assertEquals(await demo.end("SIGINT"), 0, demo.output);
  await assertNothingLeft(demo);
});

for (
  const { moment, pattern } of [
    { moment: "while it starts", pattern: /Harmony Fleet/ },
    { moment: "in the middle of a switch", pattern: /stopping/ },
  ]
) {
  Deno.test(`Ctrl-C ${moment} cleans everything up`, async () => {
    await using demo = await DemoProcess.start(["--plain"]);
    await demo.printed(pattern);
    assertEquals(await demo.end("SIGINT"), 130, demo.output);
    assertStringIncludes(demo.output, "Stopped by SIGINT; everything is cleaned up.");
    await assertNothingLeft(demo);
  });
}

Deno.test("a step that does not end as it must is told with both sides, ends the demo with 1, and keeps the logs", async () => {
  await using demo = await DemoProcess.start([]);
  const [, directory = ""] = await demo.printed(/FLEETCTL_CONFIG=(.*)\/fleetctl\.json/);
  await Deno.writeTextFile(`${directory}/broken`, BROKEN_PROGRAM, { mode: 0o755 });
  await Deno.rename(`${directory}/broken`, `${directory}/fleetctl`);
  assertEquals(await demo.end(), 1, demo.output);
  assertMatch(demo.output, / {2}WRONG {2}exit code of fleetctl .*\n +expected {2}0\n +found {5}3\n/);
  assertStringIncludes(demo.output, "broken by the test");
  assertStringIncludes(demo.output, `the logs are kept in ${directory}:`);
  for (const log of ["operator.log", "d1/updater.log", "nats/server.log"]) await Deno.stat(`${directory}/${log}`);
  assertEquals(await demo.processes(), 0);
});

Deno.test("a program that ends by itself ends the demo at once, and its log is shown", async () => {
  await using demo = await DemoProcess.start([]);
  await demo.printed(/ READY, nothing to do/);
  const [operator] = await demo.processIds("fleet-operator");
  assert(operator !== undefined);
  Deno.kill(operator, "SIGTERM");
  assertEquals(await demo.end(), 1, demo.output);
  assertMatch(
    demo.output,
    / {2}WRONG {2}fleet-operator\n +expected {2}runs\n +found {5}has ended; .*\n(?:.*\n)*.*operator stopped/,
  );
  assertEquals(await demo.processes(), 0);
});

Deno.test("a demo that cannot start says why", async () => {
  await using demo = await DemoProcess.start([], { HARMONY_NATS_SERVER: "/nowhere/nats-server" });
  assertEquals(await demo.end(), 1);
  assertMatch(demo.output, /^demo: .*\/nowhere\/nats-server/m);
});

Deno.test("help and a wrong command line need no fleet", async () => {
  for (const [args, code, text] of [[["--help"], 0, "usage: ./dev demo"], [["--kep"], 64, "--help"]] as const) {
    await using demo = await DemoProcess.start(args);
    assertEquals(await demo.end(), code);
    assertStringIncludes(demo.output, text);
    assertEquals(await demo.files(), []);
  }
});
