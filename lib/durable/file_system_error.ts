/**
 * Turns the operating system's errors into {@link FleetError}s; the only place that knows errno names.
 *
 * @module
 */
import { FleetError, type RetryClass } from "../../contracts/errors.ts";

/** What the errno names that people meet mean, as `errno(3)` words them. */
const MEANINGS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EBUSY: "the resource is busy",
  EDQUOT: "the disk quota is used up",
  EEXIST: "it exists already",
  EINVAL: "the operation does not fit what is there",
  EIO: "the disk reported an input/output error",
  EISDIR: "it is a directory",
  ELOOP: "too many symbolic links",
  EMFILE: "too many open files",
  ENAMETOOLONG: "the name is too long",
  ENFILE: "too many open files in the system",
  ENOENT: "there is no such file or directory",
  ENOSPC: "no space is left on the device",
  ENOTDIR: "a part of the path is not a directory",
  ENOTEMPTY: "the directory is not empty",
  EPERM: "the operation is not permitted",
  EROFS: "the file system is read-only",
  ETXTBSY: "the program is running",
  EXDEV: "the paths are on different file systems",
};

/** Errors that say that the disk, not the request, must change; a full disk is nobody's bad binary (DESIGN 5). */
const ENVIRONMENT = new Set(["ENOSPC", "EDQUOT", "EIO", "EROFS", "EMFILE", "ENFILE", "ENOMEM"]);
/** Errors that may be gone when the same call is made again. */
const TRANSIENT = new Set(["ENOSPC", "EDQUOT", "EMFILE", "ENFILE", "ENOMEM", "EBUSY", "EAGAIN", "EINTR"]);

/**
 * The error of an errno.
 *
 * @param errno Name such as `ENOSPC`
 * @param action What could not be done, with the path: "write /x/y"
 * @param cause The foreign error, if there is one
 */
export function errnoError(errno: string, action: string, cause?: unknown): FleetError {
  const retry: RetryClass = TRANSIENT.has(errno) ? "transient" : "permanent";
  return new FleetError(`Cannot ${action}: ${MEANINGS[errno] ?? "the operation failed"} (${errno})`, {
    code: `E_FS_${errno}`,
    retry,
    failureClass: ENVIRONMENT.has(errno) ? "environment" : "internal",
    cause,
  });
}

/**
 * The errno name that an error of the runtime carries, or undefined.
 *
 * @param error What was caught
 */
export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/**
 * The {@link FleetError} of whatever a call of the runtime threw.
 *
 * @param error What was caught
 * @param action What could not be done, with the path
 */
export function fileSystemError(error: unknown, action: string): FleetError {
  if (error instanceof FleetError) return error;
  const errno = errnoOf(error);
  if (errno !== undefined) return errnoError(errno, action, error);
  // A refused runtime permission carries no errno; to the caller it is the same as one refused by the kernel.
  return errnoError(error instanceof Deno.errors.NotCapable ? "EACCES" : "UNKNOWN", action, error);
}

/**
 * The error of a file that is larger than a reader takes.
 *
 * @param path The file
 * @param maxBytes The limit
 */
export function tooLargeError(path: string, maxBytes: number): FleetError {
  return new FleetError(`Cannot read ${path}: it has more than ${maxBytes} bytes`, { code: "E_FS_TOO_LARGE" });
}
