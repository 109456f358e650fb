/**
 * `./dev demo`: see {@link HELP_TEXT}.
 *
 * @module
 */
import { errorText, isFleetError } from "../contracts/errors.ts";
import { HELP_TEXT, parseDemoArgs } from "./command_line.ts";
import { runDemo } from "./run_demo.ts";
import { Stopped, throwIfStopping } from "./stopping.ts";
import { openScreen } from "./show/open_screen.ts";
import { makeDemoDirectory } from "./world/demo_directory.ts";
import { killOwnProcesses } from "./world/own_processes.ts";

const EXIT = { ok: 0, wrong: 1, usage: 64, outputClosed: 141 } as const;
/** Signals that end the demo, with the exit code of each. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Ends the demo on a signal; a second one no longer waits for anybody. */
function stopOnSignals(stopping: AbortController, directory: string): void {
  for (const name of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]) {
    Deno.addSignalListener(name, () => {
      if (stopping.signal.aborted) killOwnProcesses(directory).catch(() => {});
      stopping.abort(new Stopped(`Stopped by ${name}`, SIGNALS[name]));
    });
  }
}

/** An error that nobody caught must not end this process before it has stopped the others. */
function stopOnDefects(stopping: AbortController): void {
  const onDefect = (event: Event, error: unknown) => {
    event.preventDefault();
    stopping.abort(error);
  };
  globalThis.addEventListener("error", (event) => onDefect(event, event.error));
  globalThis.addEventListener("unhandledrejection", (event) => onDefect(event, event.reason));
}

async function run(keep: boolean, plain: boolean): Promise<number> {
  const stopping = new AbortController();
  const directory = await makeDemoDirectory();
  stopOnSignals(stopping, directory);
  stopOnDefects(stopping);
  const screen = openScreen(plain, () => stopping.abort(new Stopped("Nobody reads", EXIT.outputClosed)));
  let keepsLogs = true;
  try {
    const isWell = await runDemo({ directory, screen, keep, signal: stopping.signal });
    keepsLogs = !isWell;
    return isWell ? EXIT.ok : EXIT.wrong;
  } catch (error) {
    await throwIfStopping(stopping.signal).catch(() => {});
    const { aborted, reason } = stopping.signal;
    if (!(reason instanceof Stopped)) return await tellDefect(aborted ? reason : error, directory);
    keepsLogs = false;
    screen.lines(`\n${reason.message}; everything is cleaned up.\n`);
    return reason.exitCode;
  } finally {
    await killOwnProcesses(directory);
    screen.close();
    if (keepsLogs) complain(`the logs are kept in ${directory}: *.log, d*/updater.log, nats/server.log`);
    else await Deno.remove(directory, { recursive: true });
  }
}

/** One line for a person; where it happened goes to the logs. */
async function tellDefect(error: unknown, directory: string): Promise<number> {
  complain(errorText(error));
  const stack = error instanceof Error ? error.stack ?? "" : "";
  await Deno.writeTextFile(`${directory}/demo.log`, `${errorText(error)}\n${stack}\n`);
  return EXIT.wrong;
}

function complain(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`demo: ${text}\n`));
}

async function main(args: readonly string[]): Promise<number> {
  const invocation = parseDemoArgs(args);
  switch (invocation.kind) {
    case "help":
      Deno.stdout.writeSync(new TextEncoder().encode(HELP_TEXT));
      return EXIT.ok;
    case "usage":
      complain(`${invocation.problem}; see ./dev demo --help`);
      return EXIT.usage;
    case "run":
      try {
        return await run(invocation.keep, invocation.plain);
      } catch (error) {
        if (!isFleetError(error)) throw error;
        complain(errorText(error));
        return error.code === "E_USAGE" ? EXIT.usage : EXIT.wrong;
      }
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
