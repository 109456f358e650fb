/** How a candidate's bytes come to their path, and what a transfer that broke leaves for the next attempt. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { sha256Hex } from "../../contracts/digest.ts";
import { FleetError } from "../../contracts/errors.ts";
import { FETCH_STARTS_MAX, HTTPS_REQUEST_TIMEOUT_MS, INSTALL_RESERVE_BYTES } from "../../contracts/limits.ts";
import { replaceFile } from "../../lib/durable/replace_file.ts";
import { prepareCandidate, type PreparedCandidate } from "../../updater/candidate.ts";
import { partialPath } from "../../updater/partial_artifact.ts";
import { FakeClock } from "../fakes/fake_clock.ts";
import { FakeFetcher } from "../fakes/fake_fetcher.ts";
import { FaultyFileSystem } from "../fakes/faulty_file_system.ts";
import { BLOCK_BYTES } from "../fakes/memory_disk.ts";
import { MemoryFileSystem } from "../fakes/memory_file_system.ts";
import { sampleAttempt } from "../fakes/upgrade_samples.ts";

const DIRECTORY = "/usr/lib/harmony-fleet";
const TARGET = `${DIRECTORY}/fleet-agent-v2.0.0`;
const URL_OF_ARTIFACT = "https://artifacts.example/2";
const BYTES = Uint8Array.from({ length: 5 * BLOCK_BYTES }, (_, index) => index % 251);
const SHA256 = sha256Hex(BYTES);
const PARTIAL = partialPath(DIRECTORY, SHA256);
const BROKEN = new FleetError("broke off", {
  code: "E_FETCH_TRUNCATED",
  retry: "transient",
  failureClass: "environment",
});

interface World {
  readonly fs: MemoryFileSystem;
  readonly fetcher: FakeFetcher;
  readonly clock: FakeClock;
  readonly prepare: (fs?: ConstructorParameters<typeof FaultyFileSystem>[0]) => Promise<PreparedCandidate>;
  /** Serves the whole, or only some bytes of it before an error. */
  readonly serve: (bytes?: Uint8Array, error?: FleetError) => void;
}

async function newWorld(): Promise<World> {
  const fs = new MemoryFileSystem();
  await fs.makeDirectory(DIRECTORY, 0o755);
  fs.syncAll();
  const fetcher = new FakeFetcher();
  const clock = new FakeClock();
  const attempt = sampleAttempt({ artifact: { url: URL_OF_ARTIFACT, maxBytes: BYTES.length, sha256: SHA256 } });
  return {
    fs,
    fetcher,
    clock,
    prepare: (disk = fs) =>
      prepareCandidate({ fs: disk, fetcher, clock }, attempt, TARGET, new AbortController().signal),
    serve: (bytes = BYTES, error?: FleetError) =>
      void fetcher.artifacts.set(URL_OF_ARTIFACT, {
        bytes,
        chunkBytes: 1_000,
        ...(error === undefined ? {} : { error }),
      }),
  };
}

async function codeOf(preparing: Promise<unknown>): Promise<string> {
  return (await assertRejects(() => preparing, FleetError)).code;
}

const offsetsOf = ({ fetcher }: World) => fetcher.requests.map(({ offsetBytes }) => offsetBytes);

Deno.test("a transfer that broke for good is taken up by the next attempt for the same bytes", async () => {
  const world = await newWorld();
  world.serve(BYTES.subarray(0, 7_000), BROKEN);
  assertEquals(await codeOf(world.prepare()), "E_FETCH_TRUNCATED");
  assertEquals(await world.fs.list(DIRECTORY), [PARTIAL.slice(DIRECTORY.length + 1)]);
  world.serve(BYTES.subarray(0, 11_000), BROKEN);
  assertEquals(await codeOf(world.prepare()), "E_FETCH_TRUNCATED");
  assertEquals((await world.fs.stat(PARTIAL))?.sizeBytes, 11_000);
  world.serve();
  assertEquals(await world.prepare(), { how: "resumed", sizeBytes: BYTES.length });
  assertEquals(offsetsOf(world), [0, 7_000, 11_000]);
  assertEquals(await world.fs.readFile(TARGET, BYTES.length), BYTES);
  assertEquals(await world.fs.list(DIRECTORY), ["fleet-agent-v2.0.0"]);
});

Deno.test("a transfer that broke after its last byte is not asked for again", async () => {
  const world = await newWorld();
  world.serve(BYTES, BROKEN);
  await codeOf(world.prepare());
  assertEquals((await world.prepare()).how, "resumed");
  assertEquals(world.fetcher.requests.length, 1);
});

Deno.test("what was kept and is not the artifact's beginning is dropped, and the whole is fetched", async () => {
  for (const kept of [new Uint8Array(7_000), new Uint8Array(BYTES.length), new Uint8Array(BYTES.length + 1)]) {
    const world = await newWorld();
    await replaceFile(world.fs, PARTIAL, kept, { mode: 0o755 });
    world.serve();
    assertEquals(await world.prepare(), { how: "fetched", sizeBytes: BYTES.length });
    assertEquals(world.fetcher.requests.at(-1)?.offsetBytes, 0);
    assertEquals(await world.fs.readFile(TARGET, BYTES.length), BYTES);
  }
});

Deno.test("both tries together have the time of one request", async () => {
  const world = await newWorld();
  await replaceFile(world.fs, PARTIAL, new Uint8Array(7_000), { mode: 0o755 });
  world.serve();
  const inner = world.fetcher.fetch.bind(world.fetcher);
  world.fetcher.fetch = async function* (request, signal) {
    await world.clock.advance(100_000);
    yield* inner(request, signal);
  };
  await world.prepare();
  const bounds = world.fetcher.requests.map(({ timeoutMs }) => timeoutMs);
  assertEquals(bounds, [HTTPS_REQUEST_TIMEOUT_MS, HTTPS_REQUEST_TIMEOUT_MS - 100_000]);
});

/** Runs something before each fetch, which is counted from 1. */
function beforeFetch(world: World, run: (count: number, onUnproven: () => void) => void): void {
  const inner = world.fetcher.fetch.bind(world.fetcher);
  world.fetcher.fetch = async function* (request, signal) {
    run(world.fetcher.requests.length + 1, request.onUnproven ?? (() => {}));
    yield* inner(request, signal);
  };
}

const CHANGED = new FleetError("changed", { code: "E_FETCH_RANGE", failureClass: "environment" });

Deno.test("an artifact that changes while it is fetched is begun from its start, a bounded number of times", async () => {
  const world = await newWorld();
  beforeFetch(world, (count) => count === 1 ? world.serve(BYTES.subarray(0, 7_000), CHANGED) : world.serve());
  assertEquals(await world.prepare(), { how: "fetched", sizeBytes: BYTES.length });
  assertEquals(offsetsOf(world), [0, 0]);
  const hopeless = await newWorld();
  hopeless.serve(BYTES.subarray(0, 7_000), CHANGED);
  assertEquals(await codeOf(hopeless.prepare()), "E_FETCH_RANGE");
  assertEquals(hopeless.fetcher.requests.length, FETCH_STARTS_MAX);
});

Deno.test("a wrong digest is final when the bytes came in one piece, and not when nothing held the pieces together", async () => {
  for (const unproven of [false, true]) {
    const world = await newWorld();
    beforeFetch(world, (count, onUnproven) => {
      world.serve(count === 1 ? new Uint8Array(BYTES.length) : BYTES);
      if (unproven && count === 1) onUnproven();
    });
    if (unproven) assertEquals((await world.prepare()).how, "fetched");
    else assertEquals(await codeOf(world.prepare()), "E_DIGEST_MISMATCH");
    assertEquals(world.fetcher.requests.length, unproven ? 2 : 1);
  }
});

Deno.test("no time is left for another start after that of the request", async () => {
  const world = await newWorld();
  world.serve(BYTES.subarray(0, 7_000), CHANGED);
  const inner = world.fetcher.fetch.bind(world.fetcher);
  world.fetcher.fetch = async function* (request, signal) {
    await world.clock.advance(HTTPS_REQUEST_TIMEOUT_MS);
    yield* inner(request, signal);
  };
  assertEquals(await codeOf(world.prepare()), "E_FETCH_RANGE");
  assertEquals(world.fetcher.requests.length, 1);
});

Deno.test("what a power cut left of a partial file never gets into the candidate", async () => {
  const world = await newWorld();
  world.serve(BYTES.subarray(0, 3 * BLOCK_BYTES), BROKEN);
  await codeOf(world.prepare());
  world.serve();
  let states = 0;
  for (const disk of world.fs.crashStates()) {
    await world.prepare(disk);
    assertEquals(await disk.readFile(TARGET, BYTES.length), BYTES);
    states++;
  }
  assertEquals(states > 2, true, `${states} states`);
});

Deno.test("at most one partial file is kept, and none of what a rule refused", async () => {
  const world = await newWorld();
  const other = partialPath(DIRECTORY, "0".repeat(64));
  await replaceFile(world.fs, other, new Uint8Array(9), { mode: 0o755 });
  for (const [code, failureClass] of [["E_FETCH_TOO_LARGE", "policy"], ["E_FETCH_RANGE", "environment"]] as const) {
    world.serve(BYTES.subarray(0, 7_000), new FleetError("x", { code, failureClass }));
    assertEquals(await codeOf(world.prepare()), code);
    assertEquals(await world.fs.list(DIRECTORY), []);
  }
  world.serve(new Uint8Array(BYTES.length));
  assertEquals(await codeOf(world.prepare()), "E_DIGEST_MISMATCH");
  assertEquals(await world.fs.list(DIRECTORY), []);
  world.serve(new Uint8Array(0), BROKEN);
  assertEquals(await codeOf(world.prepare()), "E_FETCH_TRUNCATED");
  assertEquals(await world.fs.list(DIRECTORY), []);
});

Deno.test("a partial file that cannot be kept leaves nothing, and the error of the transfer", async () => {
  const world = await newWorld();
  world.serve(BYTES.subarray(0, 7_000), BROKEN);
  const faulty = new FaultyFileSystem(
    world.fs,
    { at: 1, errno: "EIO", times: "once" },
    ({ name }) => name === "rename",
  );
  assertEquals(await codeOf(world.prepare(faulty)), "E_FETCH_TRUNCATED");
  assertEquals([faulty.injected, await world.fs.list(DIRECTORY)], [1, []]);
});

const NEEDED_BYTES = BYTES.length + INSTALL_RESERVE_BYTES;

for (const extra of [-1, 0, 1]) {
  Deno.test(`a candidate with ${NEEDED_BYTES + extra} bytes free`, async () => {
    const world = await newWorld();
    world.serve();
    world.fs.freeBytes = () => Promise.resolve(NEEDED_BYTES + extra);
    if (extra >= 0) assertEquals((await world.prepare()).how, "fetched");
    else {
      const { code, message } = await assertRejects(() => world.prepare(), FleetError);
      assertEquals(code, "E_DISK_SPACE");
      assertStringIncludes(
        message,
        `${NEEDED_BYTES + extra} bytes are free, the artifact and a reserve need ${NEEDED_BYTES}`,
      );
    }
    assertEquals(world.fetcher.requests.length, extra >= 0 ? 1 : 0);
  });
}

Deno.test("a partial file is given up for the room of an attempt", async () => {
  const world = await newWorld();
  world.serve(BYTES.subarray(0, 7_000), BROKEN);
  await codeOf(world.prepare());
  world.serve();
  world.fs.freeBytes = async () => (await world.fs.stat(PARTIAL)) === null ? NEEDED_BYTES : NEEDED_BYTES - 1;
  assertEquals((await world.prepare()).how, "fetched");
});
