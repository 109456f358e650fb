/**
 * Tells the supervisor, systemd or the updater's process adapter, how the service is (sd_notify(3)).
 *
 * @module
 */
import { NOTIFY_RETRY_MAX_MS, NOTIFY_RETRY_MIN_MS, NOTIFY_SEND_TIMEOUT_MS } from "../../contracts/limits.ts";
import { backoffMs, type Clock, systemClock } from "../deadline.ts";
import { encodeNotification, type Notification } from "./notification.ts";
import { notifySocketPath, openDatagram, type UnixDatagram } from "./notify_address.ts";

/** Speaks to the supervisor of this process. */
export interface Notifier {
  /** Whether there is a supervisor; without one everything else does nothing. */
  readonly supervised: boolean;
  /**
   * Sends a notification with this process's id. One that says `ready` is tried until it is delivered, since a
   * supervisor that misses it kills a good service. Everything else is best effort: the call returns when it has been
   * sent, has failed, or has waited {@link NOTIFY_SEND_TIMEOUT_MS}; while the supervisor does not read, only the newest
   * status is kept.
   *
   * @param notification What to say
   * @param signal Ends the wait for the delivery of `ready`; the call then rejects with its reason
   */
  notify(notification: Notification, signal?: AbortSignal): Promise<void>;
  /** Stops sending; idempotent. */
  close(): void;
}

/** Options of {@link createNotifier}. */
export interface NotifierOptions {
  /** Value of `NOTIFY_SOCKET`; left out or empty means that there is no supervisor. */
  readonly address?: string | undefined;
  /** The process that the supervisor started. Default this one. */
  readonly mainPid?: number;
  /** Default {@link systemClock}. */
  readonly clock?: Clock;
}

/** A notifier for a process without a supervisor. */
export const silentNotifier: Notifier = {
  supervised: false,
  notify: () => Promise.resolve(),
  close: () => {},
};

/** Wakes whoever waits for a delivery. */
interface Delivery {
  readonly done: Promise<void>;
  settle(): void;
}

function delivery(): Delivery {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { done: promise, settle: resolve };
}

function withoutReady(notification: Notification): Notification {
  const { ready: _, ...rest } = notification;
  return rest;
}

class SocketNotifier implements Notifier {
  readonly supervised = true;
  readonly #path: string;
  readonly #mainPid: number;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  /** What the next datagram says. Merging bounds what waits for a supervisor that does not read. */
  #next: Notification = {};
  /** Who waits for the next datagram, and who for the one that carries READY. */
  #nextSent = delivery();
  #readySent = delivery();
  /** False once nobody waits for READY any more: a service that is stopping must not be reported as started. */
  #readyWanted = false;
  #pumping = false;
  #socket: UnixDatagram | null = null;

  constructor(path: string, mainPid: number, clock: Clock) {
    this.#path = path;
    this.#mainPid = mainPid;
    this.#clock = clock;
  }

  async notify(notification: Notification, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#closing.signal.aborted) return;
    this.#next = { ...this.#next, ...notification };
    const { ready = false } = notification;
    const sent = ready ? this.#readySent : this.#nextSent;
    if (ready) this.#readyWanted = true;
    if (!this.#pumping) this.#pump();
    await (ready ? this.#untilReady(sent, signal) : this.#briefly(sent));
  }

  close(): void {
    this.#closing.abort();
    this.#closeSocket();
    this.#nextSent.settle();
    this.#readySent.settle();
  }

  async #untilReady(sent: Delivery, signal: AbortSignal | undefined): Promise<void> {
    if (signal === undefined) return await sent.done;
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = () => {
      this.#readyWanted = false;
      this.#next = withoutReady(this.#next);
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await Promise.race([sent.done, aborted]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  async #briefly(sent: Delivery): Promise<void> {
    const waiting = new AbortController();
    await Promise.race([sent.done, this.#clock.sleep(NOTIFY_SEND_TIMEOUT_MS, waiting.signal).catch(() => {})]);
    waiting.abort();
  }

  /** The one sender: two sends at once are refused by the runtime, and would change the order. */
  async #pump(): Promise<void> {
    this.#pumping = true;
    let failures = 0;
    while (Object.keys(this.#next).length > 0 && !this.#closing.signal.aborted) {
      const current = this.#next;
      const sent = this.#nextSent;
      this.#next = {};
      this.#nextSent = delivery();
      const delivered = await this.#send(current);
      sent.settle();
      if (current.ready !== true) continue;
      if (delivered) {
        this.#readySent.settle();
        this.#readySent = delivery();
        failures = 0;
        continue;
      }
      // What was said since then is newer than what comes back.
      this.#next = { ...(this.#readyWanted ? current : withoutReady(current)), ...this.#next };
      const pauseMs = backoffMs(failures++, { minMs: NOTIFY_RETRY_MIN_MS, maxMs: NOTIFY_RETRY_MAX_MS });
      await this.#clock.sleep(pauseMs, this.#closing.signal).catch(() => {});
    }
    this.#pumping = false;
  }

  async #send(notification: Notification): Promise<boolean> {
    try {
      this.#socket ??= openDatagram();
      const bytes = encodeNotification({ mainPid: this.#mainPid, ...notification });
      await this.#socket.send(bytes, { transport: "unixpacket", path: this.#path });
      return true;
    } catch {
      this.#closeSocket();
      return false;
    }
  }

  #closeSocket(): void {
    try {
      this.#socket?.close();
    } catch {
      // Closed already.
    }
    this.#socket = null;
  }
}

/**
 * Makes a notifier.
 *
 * @param options Address, process, clock
 * @throws {FleetError} `E_NOTIFY_ADDRESS` for an address that is neither a path nor an abstract name;
 * `E_NOTIFY_UNSUPPORTED` when the runtime cannot send datagrams
 */
export function createNotifier(options: NotifierOptions = {}): Notifier {
  const { address = "", mainPid = Deno.pid, clock = systemClock } = options;
  if (address === "") return silentNotifier;
  const path = notifySocketPath(address);
  // Opened once to fail now, with a clear error, and not in a loop that waits for the supervisor.
  openDatagram().close();
  return new SocketNotifier(path, mainPid, clock);
}

/**
 * The notifier of this process. The variable is removed, so that no child speaks in this process's name.
 *
 * @throws {FleetError} as {@link createNotifier} does
 */
export function notifierFromEnvironment(): Notifier {
  const address = Deno.env.get("NOTIFY_SOCKET");
  Deno.env.delete("NOTIFY_SOCKET");
  return createNotifier({ address });
}
