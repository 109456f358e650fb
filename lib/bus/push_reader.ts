/**
 * An ephemeral push consumer, read by a plain subscription: the newest value of every key under a filter, then changes.
 *
 * Expected flow: subscribe to a new inbox, create the consumer that delivers to it, hand over messages in the order of
 * the bucket, answer the server's flow control, end at the first sign of a loss.
 *
 * Guarantees: no message is handed over after a gap; every loss that the server or the client can see ends the reader
 * with an error; nothing is handed over after {@link PushReader.close}.
 *
 * Assumptions: the consumer's name cannot be guessed (permissions bind its filter, not its name).
 *
 * Caveats: the library's ordered consumer resumes a lost one by sequence, which never delivers again when the bucket was
 * deleted and made anew; it also costs several objects per message.
 *
 * @module
 */
import { createInbox, type Msg, type Subscription } from "@nats-io/nats-core/internal";
import type { BucketName } from "../../contracts/buckets.ts";
import type { FleetError } from "../../contracts/errors.ts";
import { CONSUMER_IDLE_MS } from "../../contracts/limits.ts";
import { API_PREFIX, keySubject, streamName } from "../../contracts/subjects.ts";
import { busError } from "./bus_error.ts";
import type { BusCore } from "./bus_core.ts";
import { CaughtUp } from "./caught_up.ts";
import { newestRevision } from "./newest_revision.ts";
import { deliveryStart, parseDelivery } from "./delivery.ts";
import type { BusEntry } from "./port.ts";

const NANOS_PER_MS = 1_000_000;
const OPERATION_HEADER = "KV-Operation";

/** What a reader calls. None of them may throw. */
export interface PushHandlers {
  readonly onEntry: (entry: BusEntry) => void;
  /** Every key that was there when the reader began has been handed over. Called at most once. */
  readonly onCaughtUp: () => void;
  /** The server waits for `answer` before it sends more; call it when everything before has been taken. */
  readonly onFlowControl: (answer: () => void) => void;
  /** The reader has ended by a loss. Called at most once, never after `close()`. */
  readonly onLoss: (error: FleetError) => void;
}

/** An open consumer. */
export interface PushReader {
  /** Ends it. Deletes the consumer where the program may; the server drops it by itself otherwise. */
  close(): void;
}

/** Which keys to read, and how closely to watch for losses. */
export interface PushSource {
  readonly bucket: BucketName;
  readonly filter: string;
  /** Pause between the server's signs of life while it has nothing to send, in ms; it takes 100 ms and more. */
  readonly heartbeatMs: number;
  /** Pauses without any message after which the reader is lost. */
  readonly silentIntervalsMax: number;
}

/**
 * Opens a reader. Entries may be handed over before it returns.
 *
 * @param core The connection
 * @param source Which keys
 * @param handlers What is called
 * @throws {FleetError} as {@link BusCore.apiCall}; nothing stays open then
 */
export async function openPushReader(core: BusCore, source: PushSource, handlers: PushHandlers): Promise<PushReader> {
  const reader = new OpenReader(core, source, handlers);
  try {
    await reader.create();
    return reader;
  } catch (error) {
    reader.close();
    throw error;
  }
}

/** What of the answer to a creation is used. */
interface ConsumerInfo {
  readonly num_pending?: number;
}

class OpenReader implements PushReader {
  readonly #core: BusCore;
  readonly #source: PushSource;
  readonly #handlers: PushHandlers;
  readonly #consumer: string;
  readonly #inbox: string;
  readonly #keyStart: number;
  #subscription: Subscription | undefined;
  #heartbeatTimer: ReturnType<typeof setInterval> | undefined;
  readonly #unlisten: () => void;
  readonly #caughtUp: CaughtUp;
  #deliveryStart = -1;
  #consumerSequence = 0;
  #sawSignOfLife = true;
  #silentIntervals = 0;
  #created = false;
  #done = false;

  constructor(core: BusCore, source: PushSource, handlers: PushHandlers) {
    this.#core = core;
    this.#source = source;
    this.#handlers = handlers;
    const { consumerNamePrefix, deliveryPrefix } = core.options;
    this.#consumer = `${consumerNamePrefix}${crypto.randomUUID()}`;
    this.#inbox = createInbox(deliveryPrefix);
    this.#keyStart = keySubject(source.bucket, "").length;
    this.#caughtUp = new CaughtUp(() => newestRevision(core, source.bucket, source.filter), handlers.onCaughtUp);
    // What the server sent while there was no connection is lost, and the consumer goes soon.
    this.#unlisten = core.onStatus((status) => {
      if (status.kind === "disconnected") this.#lose("the connection was lost");
    });
    core.closing.addEventListener("abort", this.#onClosing);
  }

  readonly #onClosing = () => {
    this.#end(busError("E_BUS_CLOSED", `Cannot read ${this.#source.bucket}: the connection is closed`));
  };

  async create(): Promise<void> {
    const { bucket, filter, heartbeatMs } = this.#source;
    const stream = streamName(bucket);
    const subject = keySubject(bucket, filter);
    const what = `read ${bucket}/${filter}`;
    this.#core.requireConnected(what);
    const apiPrefix = await this.#core.apiPrefix();
    if (this.#done) throw busError("E_BUS_UNREACHABLE", `Cannot ${what}: the connection was lost`);
    this.#subscription = this.#core.connection.subscribe(this.#inbox, {
      callback: (error, message) => this.#take(error, message),
    });
    const config = {
      name: this.#consumer,
      deliver_subject: this.#inbox,
      deliver_policy: "last_per_subject",
      filter_subject: subject,
      ack_policy: "none",
      max_deliver: 1,
      mem_storage: true,
      num_replicas: 1,
      flow_control: true,
      idle_heartbeat: heartbeatMs * NANOS_PER_MS,
      inactive_threshold: CONSUMER_IDLE_MS * NANOS_PER_MS,
    };
    const answer = await this.#core.apiCall(
      `${apiPrefix}.CONSUMER.CREATE.${stream}.${this.#consumer}.${subject}`,
      { stream_name: stream, config, action: "create" },
      what,
    );
    this.#created = true;
    if (this.#done) throw busError("E_BUS_UNREACHABLE", `Cannot ${what}: the connection was lost`);
    // Nothing will come of an empty bucket.
    if ((answer as ConsumerInfo).num_pending === 0 && this.#consumerSequence === 0) this.#caughtUp.idle();
    this.#heartbeatTimer = setInterval(() => this.#checkSilence(), heartbeatMs);
  }

  #take(error: Error | null, message: Msg): void {
    if (this.#done) return;
    if (error !== null) return this.#lose("the server forbids its inbox", error);
    this.#sawSignOfLife = true;
    if (message.subject === this.#inbox) return this.#takeStatus(message);
    const reply = message.reply ?? "";
    if (this.#deliveryStart < 0) this.#deliveryStart = deliveryStart(reply, this.#consumer);
    const delivery = parseDelivery(reply, this.#deliveryStart);
    if (delivery === null) return this.#lose("the server sent a message without a position");
    if (delivery.consumerSequence !== this.#consumerSequence + 1) return this.#lose("a message was lost");
    this.#consumerSequence++;
    // Values without headers are most of all; decoding none for them is much of this reader's speed.
    const deleted = message.data.length === 0 && (message.headers?.has(OPERATION_HEADER) ?? false);
    this.#handlers.onEntry({
      key: message.subject.slice(this.#keyStart),
      value: message.data,
      revision: delivery.streamSequence,
      receivedAtMs: delivery.storedAtMs,
      deleted,
    });
    this.#caughtUp.entry(delivery.streamSequence, delivery.pending);
  }

  /** A heartbeat, a flow control request, or the end of the consumer. */
  #takeStatus(message: Msg): void {
    const { headers } = message;
    if (headers === undefined || headers.code !== 100) {
      return this.#lose(`the server ended it: ${headers?.description ?? "no status"}`);
    }
    const { reply } = message;
    if (reply !== undefined && reply !== "") {
      return this.#handlers.onFlowControl(() => this.#answer(reply));
    }
    const last = headers.get("Nats-Last-Consumer");
    if (last !== "" && Number(last) !== this.#consumerSequence) return this.#lose("a message was lost");
    const stalled = headers.get("Nats-Consumer-Stalled");
    if (stalled !== "") this.#handlers.onFlowControl(() => this.#answer(stalled));
    else this.#caughtUp.idle();
  }

  #answer(subject: string): void {
    if (!this.#done && this.#core.connected) this.#core.connection.publish(subject);
  }

  #checkSilence(): void {
    this.#silentIntervals = this.#sawSignOfLife ? 0 : this.#silentIntervals + 1;
    this.#sawSignOfLife = false;
    if (this.#silentIntervals >= this.#source.silentIntervalsMax) this.#lose("the server is silent");
  }

  #lose(why: string, cause?: unknown): void {
    const { bucket, filter } = this.#source;
    this.#end(busError("E_BUS_UNREACHABLE", `Cannot go on reading ${bucket}/${filter}: ${why}`, cause));
  }

  #end(error: FleetError): void {
    if (this.#done) return;
    this.close();
    this.#handlers.onLoss(error);
  }

  close(): void {
    if (this.#done) return;
    this.#done = true;
    this.#caughtUp.stop();
    clearInterval(this.#heartbeatTimer);
    this.#unlisten();
    this.#core.closing.removeEventListener("abort", this.#onClosing);
    this.#subscription?.unsubscribe();
    // A device may not delete: permissions cannot bind the name. The server drops what nobody listens to.
    if (this.#created && this.#core.options.deviceId === undefined && this.#core.connected) void this.#delete();
  }

  async #delete(): Promise<void> {
    try {
      await this.#core.apiCall(
        `${API_PREFIX}.CONSUMER.DELETE.${streamName(this.#source.bucket)}.${this.#consumer}`,
        null,
        "delete a consumer",
      );
    } catch {
      // The server drops it by itself after `CONSUMER_IDLE_MS`.
    }
  }
}
