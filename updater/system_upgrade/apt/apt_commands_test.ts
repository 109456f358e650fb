import { assert, assertEquals } from "@std/assert";
import {
  APT_ENVIRONMENT,
  auditCommand,
  cleanCommand,
  commandName,
  type CommandWords,
  configureCommand,
  downloadCommand,
  listArchivesCommand,
  refreshCommand,
  simulateCommand,
  upgradeCommand,
  writableCommand,
} from "./apt_commands.ts";

const ALL: readonly CommandWords[] = [
  refreshCommand(),
  simulateCommand(),
  listArchivesCommand(),
  downloadCommand(600),
  upgradeCommand(600, true),
  configureCommand(600),
  auditCommand(),
  cleanCommand(),
  writableCommand(),
];

Deno.test("no command allows what an unattended upgrade must never do", () => {
  for (const words of ALL) {
    for (const word of words) {
      assert(!/^--(?:allow-|force-yes|yes-force|no-allow)|--force-unsafe-io|--trivial-only/.test(word), word);
      assert(!/=(?:true|yes|1)$/.test(word) || !/allow|insecure|force-yes|unauth|purge|automatic/i.test(word), word);
    }
  }
});

Deno.test("systemd takes a dollar sign and a brace, or two dollar signs, for its own, and there is none in any command", () => {
  for (const words of ALL) for (const word of words) assert(!/\$\{|\$\$/.test(word), word);
});

Deno.test("everything that may configure a package keeps changed configuration files", () => {
  for (const words of [upgradeCommand(600, false), configureCommand(600)]) {
    const line = words.join(" ");
    assert(line.includes("--force-confdef") && line.includes("--force-confold"), line);
  }
  assertEquals(APT_ENVIRONMENT["DEBIAN_FRONTEND"], "noninteractive");
});

Deno.test("a refresh fails with any source, and an upgrade removes only where that was simulated", () => {
  assert(refreshCommand().includes("--error-on=any"));
  assertEquals([true, false].map((mayRemove) => upgradeCommand(600, mayRemove).includes("--no-remove")), [false, true]);
  assert(upgradeCommand(600, false).includes("DPkg::Lock::Timeout=600"));
});

Deno.test("commandName() says what a person would", () => {
  assertEquals(ALL.map(commandName), [
    "apt-get update",
    "apt-get full-upgrade",
    "apt-get full-upgrade",
    "apt-get full-upgrade",
    "apt-get full-upgrade",
    "dpkg --configure",
    "dpkg --audit",
    "apt-get clean",
    "write test",
  ]);
});
