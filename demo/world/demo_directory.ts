/**
 * The one directory in which a demo keeps everything that it makes.
 *
 * @module
 */
import { FleetError } from "../../contracts/errors.ts";
import { UNIX_SOCKET_PATH_MAX_BYTES } from "../../contracts/limits.ts";
import { managedPaths } from "../../contracts/managed_paths.ts";

/**
 * Makes a fresh directory in the temporary folder.
 *
 * @throws {FleetError} `E_USAGE` when its path is too long for the sockets in it
 */
export async function makeDemoDirectory(): Promise<string> {
  const directory = await Deno.makeTempDir({ prefix: "fleet-demo-" });
  const { updaterSocket, repairSocket, notifySocket } = managedPaths(`${directory}/d9`);
  const encoder = new TextEncoder();
  const longest = Math.max(...[updaterSocket, repairSocket, notifySocket].map((path) => encoder.encode(path).length));
  if (longest <= UNIX_SOCKET_PATH_MAX_BYTES) return directory;
  await Deno.remove(directory);
  throw new FleetError(
    `Cannot use ${directory}: a socket in it would have a path of ${longest} bytes, at most ` +
      `${UNIX_SOCKET_PATH_MAX_BYTES}; set TMPDIR to a shorter folder`,
    { code: "E_USAGE" },
  );
}
