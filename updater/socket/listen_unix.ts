/**
 * Creates a Unix socket with its rights from the first moment on.
 *
 * @module
 */
import { errorText, FleetError } from "../../contracts/errors.ts";
import { UNIX_SOCKET_PATH_MAX_BYTES } from "../../contracts/limits.ts";

/** Where a socket is, and who may connect to it. */
export interface UnixSocketPlace {
  /** Its path. */
  readonly path: string;
  /** Permission bits: whoever may write may connect. */
  readonly mode: number;
  /** Its group. Default the process's own */
  readonly gid?: number;
}

function cannotListen(path: string, problem: string, cause?: unknown): FleetError {
  return new FleetError(`Cannot listen on ${path}: ${problem}`, { code: "E_SOCKET", cause });
}

/** Removes what an updater that was killed left behind. Anything else than a socket is somebody's file, and stays. */
function removeStaleSocket(path: string): void {
  let info: Deno.FileInfo;
  try {
    info = Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  if (info.isSocket !== true) throw cannotListen(path, "there is something that is no socket");
  Deno.removeSync(path);
}

/**
 * Listens on a Unix socket. A socket that is there already is replaced: the caller holds the lock that only one process
 * can hold, so nobody listens on it.
 *
 * @param place Path, mode and group
 * @throws {FleetError} `E_SOCKET` when the path is taken, too long or not writable
 */
export function listenUnix({ path, mode, gid }: UnixSocketPlace): Deno.UnixListener {
  const sizeBytes = new TextEncoder().encode(path).byteLength;
  if (sizeBytes > UNIX_SOCKET_PATH_MAX_BYTES) {
    throw cannotListen(path, `the path has ${sizeBytes} bytes, at most ${UNIX_SOCKET_PATH_MAX_BYTES}`);
  }
  let listener: Deno.UnixListener | undefined;
  // No await until the mask is back: it belongs to the whole process.
  const before = Deno.umask(0o777 & ~mode);
  try {
    removeStaleSocket(path);
    listener = Deno.listen({ transport: "unix", path });
    // The runtime creates it with the mode that the mask leaves; until here its group is the process's own.
    if (gid !== undefined) Deno.chownSync(path, null, gid);
    return listener;
  } catch (error) {
    listener?.close();
    throw error instanceof FleetError ? error : cannotListen(path, errorText(error), error);
  } finally {
    Deno.umask(before);
  }
}
