/**
 * Reads a program's configuration: one JSON file, strict, bounded, and every error in it named at once (issue 3).
 *
 * @module
 */
import { type Decoder, parseJson } from "../../contracts/codec.ts";
import { knownProblems, unknownProblems } from "../../contracts/decode_problems.ts";
import { errorText, type FailureClass, FleetError, isFleetError } from "../../contracts/errors.ts";
import { CONFIG_MAX_BYTES, CONFIG_PROBLEMS_MAX } from "../../contracts/limits.ts";
import { guardedFileFault, MODE_WORLD_WRITABLE, readGuardedFile } from "./read_guarded_file.ts";

const WHAT = "the configuration";

/**
 * A configuration that cannot be used; each problem is one line that names the field. Its class is `version` when this
 * program read it and cannot decode it, and `environment` when a file is missing or cannot be read: that is a fault of the
 * site, which must not count against a release (`Fleet agent upgrades`, Preparation and probe).
 */
export class ConfigError extends FleetError {
  /** At most {@link CONFIG_PROBLEMS_MAX} problems, in document order; the rest is counted in the last one. */
  readonly problems: readonly string[];

  constructor(
    path: string,
    problems: readonly string[],
    failureClass: Extract<FailureClass, "environment" | "version"> = "version",
  ) {
    const kept = problems.slice(0, CONFIG_PROBLEMS_MAX);
    if (problems.length > kept.length) kept.push(`and ${problems.length - kept.length} more`);
    super(`Cannot use the configuration ${path}: ${kept.join("; ")}`, { code: "E_CONFIG", failureClass });
    this.problems = kept;
  }
}

/** How a configuration file is read. */
export interface ReadConfigOptions {
  /**
   * Takes one line for each unknown member. Default: they are problems, since a typo must not pass unseen. A program that
   * can be rolled back gives it: the configuration of the release after it must not keep the one before from starting
   * (`Fleet agent upgrades`, Limits: it must remain readable by the previous release).
   */
  readonly onUnknown?: (line: string) => void;
}

/** What is wrong with the file as a whole; the path stands before it already. */
function fileProblem(path: string, error: unknown): string {
  if (!isFleetError(error)) return errorText(error);
  const said = `Cannot read ${WHAT} ${path}: `;
  return error.message.startsWith(said) ? error.message.slice(said.length) : error.message;
}

/**
 * Reads a configuration file.
 *
 * @param path The file; at most {@link CONFIG_MAX_BYTES}, and not writable for everybody
 * @param decoder Its decoder
 * @param options What becomes of unknown members
 * @throws {ConfigError} With every problem
 */
export async function readConfig<T>(path: string, decoder: Decoder<T>, options: ReadConfigOptions = {}): Promise<T> {
  let value: unknown;
  try {
    const bytes = await readGuardedFile(path, {
      what: WHAT,
      maxBytes: CONFIG_MAX_BYTES,
      forbiddenMode: MODE_WORLD_WRITABLE,
    });
    value = parseJson(bytes, { maxBytes: CONFIG_MAX_BYTES });
  } catch (error) {
    throw new ConfigError(path, [fileProblem(path, error)], guardedFileFault(error));
  }
  const problems = knownProblems(decoder, value, "").map(({ message }) => message);
  const unknown = unknownProblems(decoder, value).map(({ message }) => message);
  const { onUnknown } = options;
  if (onUnknown === undefined) problems.push(...unknown);
  // Told beside real problems too: a misspelt name is often why another one is missing.
  else unknown.slice(0, CONFIG_PROBLEMS_MAX).forEach((line) => onUnknown(line));
  if (problems.length > 0) throw new ConfigError(path, problems);
  return decoder(value, "");
}
