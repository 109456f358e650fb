/**
 * Reads a small file that others must not be able to write, or even to read.
 *
 * @module
 */
import { type FailureClass, FleetError, isFleetError } from "../../contracts/errors.ts";
import { fileSystemError } from "../durable/file_system_error.ts";

/** Permission bit by which anybody may write a file. */
export const MODE_WORLD_WRITABLE = 0o002;
/** Permission bits by which anybody may read, write or run a file. */
export const MODE_WORLD_ANY = 0o007;

/** What a guarded file may be like. */
export interface GuardedFileOptions {
  /** What the file is, for messages: "the configuration". */
  readonly what: string;
  /** Most bytes. */
  readonly maxBytes: number;
  /** Permission bits that the file must not have. */
  readonly forbiddenMode: number;
}

function guardError(code: string, path: string, options: GuardedFileOptions, problem: string): FleetError {
  return new FleetError(`Cannot read ${options.what} ${path}: ${problem}`, { code, failureClass: "policy" });
}

function octal(mode: number): string {
  return `0${(mode & 0o777).toString(8)}`;
}

async function readWhole(file: Deno.FsFile, path: string, options: GuardedFileOptions): Promise<Uint8Array> {
  // One byte more than allowed, so that a file that grows after it was measured is seen to be too large.
  const buffer = new Uint8Array(options.maxBytes + 1);
  let length = 0;
  while (length < buffer.length) {
    const count = await file.read(buffer.subarray(length));
    if (count === null) return buffer.slice(0, length);
    length += count;
  }
  throw guardError("E_FS_TOO_LARGE", path, options, `it has more than ${options.maxBytes} bytes`);
}

/**
 * Whose fault it is that a guarded file cannot be read: `environment` when any release would fail on it (it is missing,
 * may not be opened, has the wrong mode, the disk is broken), `version` when the reader itself refuses what it holds.
 *
 * @param error What {@link readGuardedFile} threw, or what its content's decoder did
 */
export function guardedFileFault(error: unknown): Extract<FailureClass, "environment" | "version"> {
  if (!isFleetError(error)) return "version";
  // A file that is too large was read, and its bound is the reader's own; so is a permission of the runtime.
  if (error.code === "E_FS_TOO_LARGE" || error.cause instanceof Deno.errors.NotCapable) return "version";
  const isSiteFault = error.code.startsWith("E_FS_") || error.code === "E_FILE_MODE" || error.code === "E_FILE_KIND";
  return isSiteFault ? "environment" : "version";
}

/**
 * Reads a file whole. Links are followed; kind, mode and content are those of one open file, so that a swap between
 * look and read is not possible.
 *
 * @param path The file
 * @param options What it may be like
 * @throws {FleetError} `E_FILE_MODE` when a forbidden permission bit is set, `E_FILE_KIND` when it is no regular file,
 * `E_FS_TOO_LARGE`, `E_FS_*`
 */
export async function readGuardedFile(path: string, options: GuardedFileOptions): Promise<Uint8Array> {
  let file: Deno.FsFile;
  try {
    // Looked at first, because to open a named pipe waits for its writer.
    if (!(await Deno.stat(path)).isFile) throw guardError("E_FILE_KIND", path, options, "it is not a regular file");
    file = await Deno.open(path, { read: true });
  } catch (error) {
    if (error instanceof FleetError) throw error;
    throw fileSystemError(error, `read ${options.what} ${path}`);
  }
  try {
    const { isFile, mode } = await file.stat();
    if (!isFile) throw guardError("E_FILE_KIND", path, options, "it is not a regular file");
    if (mode !== null && (mode & options.forbiddenMode) !== 0) {
      const allowed = octal(mode & ~options.forbiddenMode);
      throw guardError("E_FILE_MODE", path, options, `its mode is ${octal(mode)}, must be ${allowed} or stricter`);
    }
    return await readWhole(file, path, options);
  } catch (error) {
    if (error instanceof FleetError) throw error;
    throw fileSystemError(error, `read ${options.what} ${path}`);
  } finally {
    file.close();
  }
}
