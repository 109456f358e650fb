/**
 * What every main program does around its work: signals, exit codes, and one line for whatever ends it.
 *
 * @module
 */
import { bounded } from "../contracts/formats.ts";
import { errorText, FleetError, isFleetError } from "../contracts/errors.ts";
import { LOG_FIELD_MAX_CHARS } from "../contracts/limits.ts";
import type { Logger } from "./log.ts";
import { withoutUrlLogin } from "./log_value.ts";

/** Exit codes of every program (sysexits.h where it has a word for it). */
export const EXIT_CODES = {
  /** Done; a daemon: drained after a signal. */
  ok: 0,
  /** Failed for a reason that the message says. */
  failed: 1,
  /** The command line is wrong. */
  usage: 64,
  /** A defect of the program. */
  internal: 70,
  /** Something outside is not as needed: network, disk, clock. The same command may succeed later. */
  environment: 75,
  /** The configuration is wrong. */
  configuration: 78,
} as const;

/** Signals that ask a program to end, with their numbers: the exit code is 128 + number when it cannot end well. */
const STOP_SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type StopSignal = keyof typeof STOP_SIGNALS;

/** Why a program is to end; the reason of the signal that {@link runProgram} hands to it. */
export class StopRequest extends FleetError {
  readonly signal: StopSignal;

  constructor(signal: StopSignal) {
    super(`Stopped by ${signal}`, { code: "E_STOPPED", retry: "transient", failureClass: "environment" });
    this.signal = signal;
  }
}

/**
 * The exit code of a program that an error ended.
 *
 * @param error What was thrown
 */
export function exitCodeOf(error: unknown): number {
  if (error instanceof StopRequest) return 128 + STOP_SIGNALS[error.signal];
  if (!isFleetError(error)) return EXIT_CODES.internal;
  if (error.code === "E_USAGE") return EXIT_CODES.usage;
  if (error.code.startsWith("E_CONFIG")) return EXIT_CODES.configuration;
  return error.failureClass === "environment" ? EXIT_CODES.environment : EXIT_CODES.failed;
}

/** A main program. */
export interface Program {
  /** Its name, in front of the line that it ends with. */
  readonly name: string;
  /** Where a daemon logs what ended it; without it the line goes to standard error. */
  readonly logger?: Logger;
  /**
   * The work.
   *
   * @param signal Aborts with a {@link StopRequest} on SIGTERM, SIGINT and SIGHUP
   * @returns the exit code
   */
  main(signal: AbortSignal): Promise<number>;
  /** Whether an error that nobody caught is known to be harmless; then it is dropped. */
  isHarmless?(error: unknown): boolean;
}

function location(error: unknown): string {
  const frame = error instanceof Error ? error.stack?.split("\n").find((line) => line.trim().startsWith("at ")) : "";
  return frame?.trim() ?? "";
}

function report({ name, logger }: Program, error: unknown): void {
  const defect = !isFleetError(error);
  if (logger !== undefined) {
    const stack = defect && error instanceof Error ? error.stack : undefined;
    logger.error(defect ? "ended by a defect" : "ended by an error", { error, stack });
    return;
  }
  const text = defect ? `internal error: ${errorText(error)} ${location(error)}`.trim() : errorText(error);
  const line = bounded(withoutUrlLogin(text), LOG_FIELD_MAX_CHARS);
  try {
    Deno.stderr.writeSync(new TextEncoder().encode(`${name}: ${line}\n`));
  } catch {
    // Nothing is left to tell it to.
  }
}

/** Ends the process for an error, with one line. */
function endWith(program: Program, error: unknown): never {
  // A reader such as `head` that has seen enough is no error of a command: end as a program killed by SIGPIPE does.
  if (error instanceof Deno.errors.BrokenPipe && program.logger === undefined) Deno.exit(128 + 13);
  if (!(error instanceof StopRequest)) report(program, error);
  Deno.exit(exitCodeOf(error));
}

function stopSignal(): AbortSignal {
  const stopping = new AbortController();
  let interrupts = 0;
  for (const name of Object.keys(STOP_SIGNALS) as StopSignal[]) {
    Deno.addSignalListener(name, () => {
      // A person who presses Ctrl-C again means now; a supervisor's second SIGTERM must not cut a drain short.
      if (name === "SIGINT" && ++interrupts > 1) Deno.exit(128 + STOP_SIGNALS.SIGINT);
      stopping.abort(new StopRequest(name));
    });
  }
  return stopping.signal;
}

/**
 * Runs a main program and ends the process with its exit code ({@link EXIT_CODES}). A {@link FleetError} becomes one
 * line; so does an error that nobody caught, with code 70. Work that is still going on when `main` returns is cut off.
 *
 * @param program Name, logger, work
 */
export async function runProgram(program: Program): Promise<never> {
  const onUncaught = (event: Event, error: unknown) => {
    // Another listener, such as the bus's guard, may have dealt with it.
    if (event.defaultPrevented) return;
    event.preventDefault();
    if (program.isHarmless?.(error) !== true) endWith(program, error);
  };
  globalThis.addEventListener("error", (event) => onUncaught(event, event.error));
  globalThis.addEventListener("unhandledrejection", (event) => onUncaught(event, event.reason));
  const signal = stopSignal();
  let code: number;
  try {
    code = await program.main(signal);
  } catch (error) {
    endWith(program, error);
  }
  Deno.exit(code);
}
