/**
 * Receives what a supervised service says of itself (sd_notify(3)).
 *
 * The runtime tells no sender's credentials, so a message counts for the process that its `MAINPID` names; who may write
 * to the socket is decided by its directory and mode.
 *
 * @module
 */
import { NOTIFY_MESSAGE_MAX_BYTES } from "../../contracts/limits.ts";
import { FleetError } from "../../contracts/errors.ts";
import { decodeNotification, type Notification } from "./notification.ts";
import { notifySocketPath, openDatagram, type UnixDatagram } from "./notify_address.ts";

/** Options of {@link listenNotifications}. */
export interface NotifyReceiverOptions {
  /** Permission bits of the socket. Default 0600. */
  readonly mode?: number;
}

/** A socket that receives notifications. Iterate it once. */
export interface NotifyReceiver extends AsyncIterable<Notification> {
  /** Value for `NOTIFY_SOCKET`. */
  readonly address: string;
  /** Ends the iteration and removes the socket; idempotent. */
  close(): void;
}

class SocketReceiver implements NotifyReceiver {
  readonly address: string;
  readonly #path: string;
  readonly #socket: UnixDatagram;
  #closed = false;

  constructor(address: string, path: string, socket: UnixDatagram) {
    this.address = address;
    this.#path = path;
    this.#socket = socket;
  }

  async *[Symbol.asyncIterator](): AsyncIterator<Notification> {
    // One byte more than a message may have shows one that is longer.
    const buffer = new Uint8Array(NOTIFY_MESSAGE_MAX_BYTES + 1);
    while (!this.#closed) {
      let bytes: Uint8Array;
      try {
        [bytes] = await this.#socket.receive(buffer);
      } catch (error) {
        if (this.#closed) return;
        throw new FleetError("Cannot receive notifications", { code: "E_NOTIFY_SOCKET", cause: error });
      }
      const notification = decodeNotification(bytes);
      if (notification !== null) yield notification;
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#socket.close();
    removeSocket(this.#path);
  }
}

/** The runtime leaves a datagram socket's file behind. */
function removeSocket(path: string): void {
  if (path.startsWith("\0")) return;
  try {
    if (Deno.lstatSync(path).isSocket) Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/**
 * Listens for notifications. A socket that is at the path already is replaced: the caller holds the lock of the one
 * program that listens there.
 *
 * @param address An absolute path, or `@name`
 * @param options Mode of the socket
 * @throws {FleetError} `E_NOTIFY_ADDRESS`, `E_NOTIFY_UNSUPPORTED`, `E_NOTIFY_SOCKET`
 */
export function listenNotifications(address: string, options: NotifyReceiverOptions = {}): NotifyReceiver {
  const path = notifySocketPath(address);
  const named = !path.startsWith("\0");
  try {
    removeSocket(path);
    const socket = openDatagram(path);
    try {
      if (named) Deno.chmodSync(path, options.mode ?? 0o600);
    } catch (error) {
      socket.close();
      throw error;
    }
    return new SocketReceiver(address, path, socket);
  } catch (error) {
    if (error instanceof FleetError) throw error;
    throw new FleetError(`Cannot listen for notifications at ${address}`, {
      code: "E_NOTIFY_SOCKET",
      failureClass: "environment",
      cause: error,
    });
  }
}
