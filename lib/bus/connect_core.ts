/**
 * One connection: which server, which step failed, and the pace of reconnecting once it is made.
 *
 * @module
 */
import { compare, NatsConnectionImpl, parseSemVer, ProtocolHandler, TimeoutError } from "@nats-io/nats-core/internal";
import { errorText } from "../../contracts/errors.ts";
import { NATS_SERVER_VERSION_MIN } from "../../contracts/limits.ts";
import { READINESS_STEPS } from "../../contracts/readiness.ts";
import { backoffMs, type Clock } from "../deadline.ts";
import { createAuthenticator } from "./authenticator.ts";
import { isLoginRefusal } from "./bus_error.ts";
import { BusCore } from "./bus_core.ts";
import type { ResolvedBusOptions } from "./bus_options.ts";
import { BusConnectError } from "./connect_error.ts";
import type { DialContext } from "./dial.ts";
import { type BusConnectionOptions, installTransport } from "./transport.ts";

/**
 * Tries every server once, in random order.
 *
 * @param options Servers and credentials
 * @param signal Ends it; the call then throws its reason
 * @param endMs When it must be over, on the clock's monotonic scale
 * @param clock Measures it
 * @throws {BusConnectError} of the server that came furthest
 */
export async function connectCore(
  options: ResolvedBusOptions,
  signal: AbortSignal | undefined,
  endMs: number,
  clock: Clock,
): Promise<BusCore> {
  let furthest: BusConnectError | undefined;
  for (const server of shuffled(options.servers, options.random)) {
    const timeoutMs = Math.min(options.bounds.connectTimeoutMs, Math.ceil(endMs - clock.monotonicMs()));
    if (furthest !== undefined && timeoutMs <= 0) break;
    try {
      return await connectTo(server, options, Math.max(1, timeoutMs), signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof BusConnectError)) throw error;
      if (furthest === undefined || stepIndex(error) >= stepIndex(furthest)) furthest = error;
    }
  }
  throw furthest;
}

function stepIndex(error: BusConnectError): number {
  return READINESS_STEPS.indexOf(error.step);
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items.map((item) => ({ item, order: random() })).sort((a, b) => a.order - b.order).map(({ item }) => item);
}

async function connectTo(
  server: string,
  options: ResolvedBusOptions,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<BusCore> {
  signal?.throwIfAborted();
  installTransport();
  const lifetime = new AbortController();
  const onAbort = () => lifetime.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const { caFile, tlsRequired } = options;
  const context: DialContext = { signal: lifetime.signal, caFile, tlsRequired, step: "dns" };
  const pace = new ReconnectPace(options);
  try {
    const connection = newConnection(connectionOptions(server, options, timeoutMs, context, pace, () => {
      // The library hears of a refused login, but waits for its timeout when the server just hangs up.
      const { connectError, lastError } = connection.protocol;
      connectError?.(lastError ?? new Error("the server closed the connection"));
    }));
    await connection.protocol.dialLoop();
    await refuseOldServer(connection);
    // One server per attempt tells which step failed; all of them serve to reconnect.
    connection.setServers([...options.servers]);
    connection.options.timeout = options.bounds.connectTimeoutMs;
    const core = new BusCore(connection, options, lifetime);
    pace.begin(core);
    return core;
  } catch (error) {
    lifetime.abort();
    throw connectError(error, context, timeoutMs);
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

/** What the library's `connect` makes, before it dials: its handler is needed while it does. */
function newConnection(options: BusConnectionOptions): NatsConnectionImpl {
  const connection: NatsConnectionImpl = Reflect.construct(NatsConnectionImpl, [options]);
  connection.protocol = new ProtocolHandler(connection.options, connection);
  return connection;
}

function connectionOptions(
  server: string,
  options: ResolvedBusOptions,
  timeoutMs: number,
  dialContext: DialContext,
  pace: ReconnectPace,
  onEnded: () => void,
): BusConnectionOptions {
  const { bounds } = options;
  return {
    servers: [server],
    name: options.name,
    authenticator: createAuthenticator(options.auth),
    inboxPrefix: options.inboxPrefix,
    timeout: timeoutMs,
    pingInterval: bounds.pingIntervalMs,
    maxPingOut: bounds.maxPingsOut,
    // Two refused logins in a row end a connection of this library unless it is told otherwise.
    ignoreAuthErrorAbort: true,
    maxReconnectAttempts: -1,
    // Pauses come from the handler, which alone can delay the first try after a loss as well.
    reconnectDelayHandler: () => 0,
    reconnectToServer: (servers) => ({ server: first(servers), delay: pace.nextPauseMs() }),
    noAsyncTraces: true,
    resolve: false,
    dialContext,
    onDialFailure: (error) => pace.dialFailed(error),
    onEnded,
  };
}

function first<T>(items: readonly T[]): T {
  const [item] = items;
  if (item === undefined) throw new Error("Cannot reconnect: no server is left");
  return item;
}

/** Pauses between the library's own attempts to reconnect: none before the first connection, then jittered. */
class ReconnectPace {
  readonly #options: ResolvedBusOptions;
  #core: BusCore | undefined;
  #failures = 0;

  constructor(options: ResolvedBusOptions) {
    this.#options = options;
  }

  /** From the first connection on. */
  begin(core: BusCore): void {
    this.#core = core;
    core.onStatus((status) => {
      if (status.kind === "connected") this.#failures = 0;
    });
  }

  nextPauseMs(): number {
    if (this.#core === undefined) return 0;
    const { bounds: { reconnectMinMs: minMs, reconnectMaxMs: maxMs }, random } = this.#options;
    return backoffMs(this.#failures++, { minMs, maxMs, random });
  }

  dialFailed(error: unknown): void {
    this.#core?.emit({ kind: "error", message: errorText(error) });
  }
}

async function refuseOldServer(connection: NatsConnectionImpl): Promise<void> {
  const version = connection.info?.version ?? "0.0.0";
  if (compare(parseSemVer(version), parseSemVer(NATS_SERVER_VERSION_MIN)) >= 0) return;
  await connection.close();
  throw new BusConnectError("nats", `Cannot use NATS server ${version}: want ${NATS_SERVER_VERSION_MIN} or newer`, {
    code: "E_BUS_SERVER_TOO_OLD",
  });
}

function connectError(error: unknown, context: DialContext, timeoutMs: number): unknown {
  if (error instanceof BusConnectError) return error;
  if (isLoginRefusal(error)) {
    return new BusConnectError("nats", `Cannot log in to NATS: ${errorText(error)}`, {
      code: "E_BUS_AUTH",
      cause: error,
    });
  }
  const why = error instanceof TimeoutError ? `no answer within ${timeoutMs} ms` : errorText(error);
  return new BusConnectError(context.step, `Cannot connect to NATS: ${why}`, { cause: error });
}
