/**
 * `fleet-updater`: the root service that prepares, probes, switches, and commits or rolls back, and root's two commands
 * beside it.
 *
 * @module
 */
import { BUILD_FORM, BUILD_VERSION } from "../contracts/build_info.ts";
import { managedPaths } from "../contracts/managed_paths.ts";
import { runCommandLine } from "../lib/command_line.ts";
import { readConfig } from "../lib/config/read_config.ts";
import { systemClock } from "../lib/deadline.ts";
import { osFileSystem } from "../lib/durable/os_file_system.ts";
import { createLogger } from "../lib/log.ts";
import { EXIT_CODES } from "../lib/program.ts";
import { type CommandLine, HELP_TEXT, parseCommandLine } from "./command_line.ts";
import { idleCommand } from "./commands/idle.ts";
import { renewLedgerCommand } from "./commands/renew_ledger.ts";
import { repairCommand } from "./commands/repair.ts";
import { serveCommand } from "./commands/serve.ts";
import { statusCommand } from "./commands/status.ts";
import { updaterConfig } from "./config.ts";

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text.endsWith("\n") ? text : `${text}\n`));
}

function progress(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
}

async function run(
  { command, root, config, output, select, renewLedger }: CommandLine,
  signal: AbortSignal,
): Promise<number> {
  const paths = managedPaths(root);
  const log = createLogger();
  const onUnknown = (problem: string) => log.warn("configuration has an unknown member", { problem });
  const configured = () => readConfig(config ?? paths.updaterConfig, updaterConfig, { onUnknown });
  switch (command) {
    case "help":
      print(HELP_TEXT);
      return EXIT_CODES.ok;
    case "version":
      print(`fleet-updater ${BUILD_VERSION} (${BUILD_FORM})`);
      return EXIT_CODES.ok;
    case "status":
      return await statusCommand(paths, output, print, signal);
    case "idle":
      return await idleCommand(paths, osFileSystem, print, signal);
    case "repair":
      if (renewLedger) return await renewLedgerCommand({ paths, fs: osFileSystem, clock: systemClock, progress });
      return await repairCommand({
        paths,
        fs: osFileSystem,
        clock: systemClock,
        deviceId: (await configured()).deviceId,
        arch: Deno.build.arch,
        output,
        print,
        progress,
        signal,
        ...(select === undefined ? {} : { select }),
      });
    case "serve":
      return await serveCommand({ paths, config: await configured(), log, signal });
  }
}

if (import.meta.main) {
  await runCommandLine({
    name: "fleet-updater",
    args: Deno.args,
    log: createLogger(),
    parse: parseCommandLine,
    isService: ({ command }) => command === "serve",
    main: run,
  });
}
