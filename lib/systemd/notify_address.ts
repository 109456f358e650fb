/**
 * The address in `NOTIFY_SOCKET` (sd_notify(3)): an absolute path, or `@name` for the abstract name space.
 *
 * @module
 */
import { FleetError } from "../../contracts/errors.ts";

/** A datagram socket of the runtime; what it is sent to is a path, or a name that begins with a zero character. */
export type UnixDatagram = Deno.DatagramConn;

/**
 * The path that the runtime takes for an address.
 *
 * @param address Value of `NOTIFY_SOCKET`
 * @throws {FleetError} `E_NOTIFY_ADDRESS` for any other kind of address
 */
export function notifySocketPath(address: string): string {
  if (address.startsWith("/")) return address;
  if (address.startsWith("@") && address.length > 1) return `\0${address.slice(1)}`;
  throw new FleetError("Cannot notify the supervisor: NOTIFY_SOCKET is neither an absolute path nor an abstract name", {
    code: "E_NOTIFY_ADDRESS",
    failureClass: "environment",
  });
}

/**
 * Opens a datagram socket. Needs `--unstable-net` (or `"unstable": ["net"]`), and `--allow-net=unix:PATH` with
 * `--allow-read` and `--allow-write` of the path.
 *
 * @param path Where it receives; left out, it can only send
 * @throws {FleetError} `E_NOTIFY_UNSUPPORTED` when the runtime lacks the call, `E_NOTIFY_SOCKET` when it fails
 */
export function openDatagram(path?: string): UnixDatagram {
  if (typeof Deno.listenDatagram !== "function") {
    throw new FleetError("Cannot notify the supervisor: the runtime was started without --unstable-net", {
      code: "E_NOTIFY_UNSUPPORTED",
      failureClass: "environment",
    });
  }
  try {
    // Without a path the socket stays unbound (measured); the runtime's types know bound sockets only.
    const options = { transport: "unixpacket", ...(path === undefined ? {} : { path }) };
    return Deno.listenDatagram(options as Deno.UnixListenOptions & { transport: "unixpacket" });
  } catch (error) {
    throw new FleetError("Cannot open a notification socket", {
      code: "E_NOTIFY_SOCKET",
      retry: "transient",
      failureClass: "environment",
      cause: error,
    });
  }
}
