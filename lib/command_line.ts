/**
 * What the command lines of the daemons have in common: one line for a wrong one, and where the end of the program is
 * told.
 *
 * @module
 */
import { errorText, FleetError } from "../contracts/errors.ts";
import type { Logger } from "./log.ts";
import { runProgram } from "./program.ts";

/**
 * The error of a wrong command line.
 *
 * @param program Name of the program
 * @param problem What is wrong: a text, or what the runtime's parser threw, of which the advice on other programs'
 * habits is left out
 */
export function usageError(program: string, problem: unknown): FleetError {
  const text = typeof problem === "string" ? problem : errorText(problem).replace(/\. .*$|\.$/, "");
  return new FleetError(`${text}; see ${program} --help`, { code: "E_USAGE", failureClass: "policy" });
}

/** A program and its command line. */
export interface CommandLineProgram<T> {
  readonly name: string;
  /** Words after the program's name. */
  readonly args: readonly string[];
  /** The service's log. */
  readonly log: Logger;
  /** Reads the command line. @throws {FleetError} `E_USAGE` */
  readonly parse: (args: readonly string[]) => T;
  /** Whether it asks for the service, which ends in its log; a command ends with one line for a person. */
  readonly isService: (invocation: T) => boolean;
  /** Does what is asked for, and returns the exit code. */
  readonly main: (invocation: T, signal: AbortSignal) => Promise<number>;
}

/**
 * Reads a command line, does what it asks for, and ends the process with the exit code.
 *
 * @param program The program
 */
export async function runCommandLine<T>(program: CommandLineProgram<T>): Promise<never> {
  const { name, args, log, parse, isService, main } = program;
  let invocation: T;
  try {
    invocation = parse(args);
  } catch (error) {
    return await runProgram({ name, main: () => Promise.reject(error) });
  }
  return await runProgram({
    name,
    ...(isService(invocation) ? { logger: log } : {}),
    main: (signal) => main(invocation, signal),
  });
}
