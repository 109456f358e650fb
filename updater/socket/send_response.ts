/**
 * Sends the one response of a connection and takes leave of its client.
 *
 * @module
 */
import { SOCKET_LINGER_MS, SOCKET_WRITE_TIMEOUT_MS } from "../../contracts/limits.ts";
import { type Clock, withDeadline } from "../../lib/deadline.ts";

async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.byteLength;) sent += await conn.write(bytes.subarray(sent));
}

async function drain(conn: Deno.Conn): Promise<void> {
  const dropped = new Uint8Array(16 * 1_024);
  while (await conn.read(dropped) !== null);
}

/**
 * Writes a response, shuts down the sending side, and drops for a moment what the client still sends: closing a Unix
 * socket with unread data would give the client an error in place of the end of the response. The caller closes the
 * connection.
 *
 * @param conn The connection
 * @param bytes The response
 * @param clock For the bounds
 * @returns whether the client took the whole response; one that does not read or has gone away is no error
 */
export async function sendResponse(conn: Deno.UnixConn, bytes: Uint8Array, clock: Clock): Promise<boolean> {
  try {
    await withDeadline(SOCKET_WRITE_TIMEOUT_MS, "send a response", () => writeAll(conn, bytes), { clock });
    await conn.closeWrite();
  } catch {
    return false;
  }
  // A client that keeps its side open, or has gone, has had its response.
  await withDeadline(SOCKET_LINGER_MS, "take leave", () => drain(conn), { clock }).catch(() => {});
  return true;
}
