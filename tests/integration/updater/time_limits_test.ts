/** The seed's time limits at their exact values, by a clock that moves only when it is told to. */
import { assert, assertEquals } from "@std/assert";
import { FleetError } from "../../../contracts/errors.ts";
import {
  FETCH_STALL_TIMEOUT_MS,
  HTTPS_CONNECT_TIMEOUT_MS,
  HTTPS_REQUEST_TIMEOUT_MS,
  SERVICE_RESTART_DELAY_MS,
  SERVICE_START_TIMEOUT_MS,
  SERVICE_STOP_TIMEOUT_MS,
  SOCKET_READ_TIMEOUT_MS,
  SOCKET_STATUS_TIMEOUT_MS,
  SOCKET_UPGRADE_TIMEOUT_MS,
} from "../../../contracts/limits.ts";
import type { UpdaterResponse } from "../../../contracts/updater_protocol.ts";
import { silentLogger } from "../../../lib/log.ts";
import { openFetchRun } from "../../../lib/fetch/fetch_run.ts";
import { httpsFetcher } from "../../../lib/fetch/https_fetcher.ts";
import { serveUpdaterSocket } from "../../../updater/socket/server.ts";
import { FakeClock } from "../../fakes/fake_clock.ts";
import { createProcessRoot, openService, type ProcessRoot } from "../../fakes/process_service_subject.ts";
import { sampleAttempt } from "../../fakes/upgrade_samples.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import type { ArtifactBehaviour } from "../../tls/artifact_behaviour.ts";
import { type ArtifactHost, startArtifactHost } from "../../tls/artifact_host.ts";
import { createTestAuthority } from "../../tls/test_authority.ts";
import { codeOf, RawClient } from "./raw_client.ts";

/** Whether a promise has settled. */
function watched<T>(promise: Promise<T>): { readonly promise: Promise<T>; settled: boolean } {
  const watch = { promise, settled: false };
  const mark = () => {
    watch.settled = true;
  };
  promise.then(mark, mark);
  return watch;
}

/** Asserts that something is open one ms before a limit; the clock then stands at the limit. */
async function passLimit(clock: FakeClock, limitMs: number, work: { readonly settled: boolean }): Promise<void> {
  await clock.advance(limitMs - 1);
  assertEquals(work.settled, false, `ended before ${limitMs} ms`);
  await clock.advance(1);
}

interface StalledFetch {
  readonly host: ArtifactHost;
  readonly clock: FakeClock;
  readonly fetching: { readonly promise: Promise<unknown>; readonly settled: boolean };
  readonly cancel: () => void;
}

/** A fetch that waits for a host which has fallen silent, with bounds above the limits. */
async function withStalledFetch(
  behaviour: ArtifactBehaviour,
  sleeping: number,
  test: (stalled: StalledFetch) => Promise<void>,
): Promise<void> {
  const authority = await createTestAuthority();
  const caFile = await Deno.makeTempFile({ prefix: "fleet-ca-" });
  await Deno.writeTextFile(caFile, authority.caCert);
  const clock = new FakeClock();
  const canceling = new AbortController();
  try {
    await using host: ArtifactHost = startArtifactHost({ certificate: await authority.issue() });
    const url = host.answer("/agent", behaviour);
    const bounds = {
      connectTimeoutMs: 2 * HTTPS_CONNECT_TIMEOUT_MS,
      requestTimeoutMs: 2 * HTTPS_REQUEST_TIMEOUT_MS,
      stallTimeoutMs: 2 * FETCH_STALL_TIMEOUT_MS,
    };
    const fetcher = httpsFetcher({ caFile, clock, bounds });
    const fetching = watched((async () => {
      const request = { url, maxBytes: 1_000, sha256: "" };
      for await (const chunk of fetcher.fetch(request, canceling.signal)) assert(chunk.length > 0);
    })());
    await waitUntil("the fetch waits", () => host.requests.length === 1 && clock.sleeping === sleeping);
    await test({ host, clock, fetching, cancel: () => canceling.abort() });
  } finally {
    await Deno.remove(caFile);
  }
}

/** Asserts that the connection of a fetch ends exactly at a limit, and how the fetch then ends. */
async function endsAt(limitMs: number, { host, clock, fetching, cancel }: StalledFetch): Promise<void> {
  const connection = watched(host.requests[0]?.ended ?? Promise.reject(new Error("no request")));
  await passLimit(clock, limitMs, connection);
  await waitUntil("the connection to end", () => connection.settled);
  cancel();
  const error = await fetching.promise.then(() => null, (thrown: unknown) => thrown);
  assert(error instanceof FleetError);
  assertEquals(error.code, "E_FETCH_CANCELED", "it would have been taken up again");
}

// The sleep of the whole request goes on beside the one of the header, and of the body.
Deno.test("the response's header is waited for as long as the limit", () =>
  withStalledFetch({ kind: "stall-before-header" }, 2, (fetching) => endsAt(HTTPS_CONNECT_TIMEOUT_MS, fetching)));

Deno.test("a silent body is waited for as long as the limit", () =>
  withStalledFetch(
    { kind: "stall-in-body", bytes: new Uint8Array(100), afterBytes: 10 },
    2,
    (fetching) => endsAt(FETCH_STALL_TIMEOUT_MS, fetching),
  ));

Deno.test("the complete request has the time of the limit, whatever it does", async () => {
  const clock = new FakeClock();
  const bounds = { requestTimeoutMs: 2 * HTTPS_REQUEST_TIMEOUT_MS };
  const place = { shownUrl: "https://host/agent" };
  using run = await openFetchRun(place, { clock, bounds }, undefined, new AbortController().signal);
  await clock.advance(HTTPS_REQUEST_TIMEOUT_MS - 1);
  assertEquals(run.signal.aborted, false);
  await clock.advance(1);
  assert(run.signal.reason instanceof FleetError);
  assertEquals(run.signal.reason.code, "E_FETCH_TIMEOUT");
});

async function withSocket(test: (path: string, clock: FakeClock, asked: () => number) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "fleet-limits-" });
  const path = `${directory}/updater.sock`;
  const clock = new FakeClock();
  const stop = new AbortController();
  let asked = 0;
  const never = () => {
    asked++;
    return new Promise<never>(() => {});
  };
  const bounds = {
    readTimeoutMs: 2 * SOCKET_READ_TIMEOUT_MS,
    statusTimeoutMs: 2 * SOCKET_STATUS_TIMEOUT_MS,
    upgradeTimeoutMs: 2 * SOCKET_UPGRADE_TIMEOUT_MS,
  };
  const handlers = { status: never, upgrade: never, systemUpgrade: never };
  const { finished } = serveUpdaterSocket({
    path,
    mode: 0o600,
    handlers,
    log: silentLogger,
    signal: stop.signal,
    bounds,
    clock,
  });
  try {
    await test(path, clock, () => asked);
  } finally {
    stop.abort();
    await clock.advanceUntil(finished, 60_000);
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("a request is waited for as long as the limit", () =>
  withSocket(async (path, clock) => {
    using client = await RawClient.connect(path);
    await client.send("{");
    const answer = watched<UpdaterResponse>(client.response());
    await waitUntil("it is read", () => clock.sleeping === 1);
    await passLimit(clock, SOCKET_READ_TIMEOUT_MS, answer);
    assertEquals(codeOf(await answer.promise), "E_REQUEST_TIMEOUT");
  }));

Deno.test("status and upgrade are waited for as long as their limits", () =>
  withSocket(async (path, clock, asked) => {
    const attempt = sampleAttempt();
    const cases = [
      [{ protocol: 1, request: "status" }, SOCKET_STATUS_TIMEOUT_MS],
      [{ protocol: 1, request: "upgrade", attempt }, SOCKET_UPGRADE_TIMEOUT_MS],
    ] as const;
    for (const [index, [request, limitMs]] of cases.entries()) {
      using client = await RawClient.connect(path);
      await client.send(JSON.stringify(request));
      await client.halfClose();
      const answer = watched<UpdaterResponse>(client.response());
      await waitUntil("it is asked for", () => asked() === index + 1);
      await passLimit(clock, limitMs, answer);
      assertEquals(codeOf(await answer.promise), "E_RESPONSE_TIMEOUT");
    }
  }));

async function withService(
  test: (world: Awaited<ReturnType<typeof openService>>, root: ProcessRoot, clock: FakeClock) => Promise<void>,
): Promise<void> {
  await using root = await createProcessRoot();
  const clock = new FakeClock();
  const bounds = {
    startTimeoutMs: 2 * SERVICE_START_TIMEOUT_MS,
    stopTimeoutMs: 2 * SERVICE_STOP_TIMEOUT_MS,
    restartDelayMs: 2 * SERVICE_RESTART_DELAY_MS,
  };
  const service = await openService(root, { clock, bounds });
  try {
    await test(service, root, clock);
  } finally {
    await service.close();
  }
}

/** Moves the clock on in small steps, so that real processes have real time to end. */
async function advanceGently<T>(clock: FakeClock, work: { readonly promise: Promise<T>; readonly settled: boolean }) {
  await waitUntil("it has ended", async () => {
    await clock.advance(20);
    return work.settled;
  });
  return await work.promise;
}

Deno.test("READY is waited for as long as the limit, and the restart after it as long as its own", () =>
  withService(async (service, root, clock) => {
    await root.use({ does: "wait" });
    const starting = watched(service.start());
    await waitUntil("it runs", async () => (await root.startedPids()).length === 1);
    await passLimit(clock, SERVICE_START_TIMEOUT_MS, starting);
    const outcome = await advanceGently(clock, starting);
    assertEquals(outcome.kind === "failed" && outcome.result, "timeout");
    await advanceGently(clock, watched(service.stop()));
    await root.use({ does: "exit", exitCode: 1 });
    assertEquals((await service.start()).kind, "failed");
    await waitUntil("it pauses", async () => (await service.show()).mainPid === undefined && clock.sleeping === 2);
    await clock.advance(SERVICE_RESTART_DELAY_MS - 1);
    assertEquals((await root.startedPids()).length, 2);
    await clock.advance(1);
    await waitUntil("it is started again", async () => (await root.startedPids()).length === 3);
    await advanceGently(clock, watched(service.stop()));
  }));

Deno.test("an agent that drains is waited for as long as the limit, then killed", () =>
  withService(async (service, root, clock) => {
    await root.use({ does: "ready", ignoresTerm: true });
    assertEquals((await service.start()).kind, "ready");
    const stopping = watched(service.stop());
    await waitUntil("it is waited for", () => clock.sleeping >= 1);
    await passLimit(clock, SERVICE_STOP_TIMEOUT_MS, stopping);
    assertEquals(await advanceGently(clock, stopping), { kind: "stopped" });
    assertEquals([root.livingPids(), (await service.show()).active], [[], "failed"]);
  }));
