/**
 * The socket on which the agent says that it is READY, at its fixed path.
 *
 * @module
 */
import { errorText, FleetError } from "../../contracts/errors.ts";
import { NOTIFY_RETRY_MAX_MS, NOTIFY_SEND_TIMEOUT_MS } from "../../contracts/limits.ts";
import { type Clock, withDeadline } from "../../lib/deadline.ts";
import type { Logger } from "../../lib/log.ts";
import { encodeNotification, type Notification } from "../../lib/systemd/notification.ts";
import { notifySocketPath, openDatagram } from "../../lib/systemd/notify_address.ts";
import { listenNotifications, type NotifyReceiver } from "../../lib/systemd/notify_receiver.ts";

/** What an inbox is made of. */
export interface NotifyInboxOptions {
  readonly path: string;
  /** Group of the agent's account, which may then write to the socket. Default: only the updater's own account may */
  readonly gid?: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly onNotification: (notification: Notification) => void;
}

async function sendWord(path: string, word: string): Promise<void> {
  const socket = openDatagram();
  try {
    const bytes = encodeNotification({ mainPid: Deno.pid, status: word });
    await socket.send(bytes, { transport: "unixpacket", path: notifySocketPath(path) });
  } finally {
    socket.close();
  }
}

/** Receives notifications until it is closed. */
export class NotifyInbox {
  readonly #options: NotifyInboxOptions;
  readonly #closing = new AbortController();
  readonly #barriers = new Map<string, () => void>();
  readonly #reading: Promise<void>;
  #receiver: NotifyReceiver;

  /** @throws {FleetError} `E_NOTIFY_*` when the socket cannot be made */
  constructor(options: NotifyInboxOptions) {
    this.#options = options;
    this.#receiver = this.#listen();
    this.#reading = this.#read();
  }

  /**
   * Waits until everything that was sent before this call has been taken: datagrams come in order, so one of our own at
   * the end of the queue tells. Without it the last words of a process that has ended could be missed.
   */
  async flush(): Promise<void> {
    const { path, clock } = this.#options;
    const word = crypto.randomUUID();
    const seen = new Promise<void>((resolve) => this.#barriers.set(word, resolve));
    try {
      await withDeadline(NOTIFY_SEND_TIMEOUT_MS, "flush the notifications", async () => {
        await sendWord(path, word);
        await seen;
      }, { clock, signal: this.#closing.signal });
    } catch {
      // What could be read has been read.
    } finally {
      this.#barriers.delete(word);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new FleetError("the inbox is closed", { code: "E_STOPPING" }));
    this.#receiver.close();
    await this.#reading;
  }

  #listen(): NotifyReceiver {
    const { path, gid } = this.#options;
    const receiver = listenNotifications(path, { mode: gid === undefined ? 0o600 : 0o660 });
    try {
      if (gid !== undefined) Deno.chownSync(path, null, gid);
    } catch (error) {
      receiver.close();
      throw error;
    }
    return receiver;
  }

  async #read(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        for await (const notification of this.#receiver) this.#take(notification);
      } catch (error) {
        // Without the socket no agent could become READY: it is made again until it works.
        log.state("notify socket", "notify socket failed", { error: errorText(error) }, "error");
      }
      if (signal.aborted) return;
      this.#receiver.close();
      await clock.sleep(NOTIFY_RETRY_MAX_MS, signal).catch(() => {});
      this.#listenAgain();
    }
  }

  #listenAgain(): void {
    if (this.#closing.signal.aborted) return;
    try {
      this.#receiver = this.#listen();
    } catch (error) {
      this.#options.log.state("notify socket", "notify socket failed", { error: errorText(error) }, "error");
    }
  }

  #take(notification: Notification): void {
    const { mainPid, status } = notification;
    const barrier = mainPid === Deno.pid && status !== undefined ? this.#barriers.get(status) : undefined;
    if (barrier === undefined) this.#options.onNotification(notification);
    else barrier();
  }
}
