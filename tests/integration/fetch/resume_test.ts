/** Real TLS, real sockets: what is taken up again, and how often. */
import { assertEquals } from "@std/assert";
import { FETCH_PROGRESS_MIN_BYTES, FETCH_RESUMES_MAX } from "../../../contracts/limits.ts";
import { httpsFetcher } from "../../../lib/fetch/https_fetcher.ts";
import type { ArtifactBehaviour } from "../../tls/artifact_behaviour.ts";
import { startArtifactHost } from "../../tls/artifact_host.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { createTestAuthority } from "../../tls/test_authority.ts";

import { BYTES, bytesSent, CALM, fetchAll, MAX_BYTES, verdict, withWorld } from "./fetch_world.ts";

Deno.test("a transfer that breaks is taken up where it broke, under its validator", () =>
  withWorld(async (world) => {
    const breaking = { kind: "truncated", bytes: BYTES, afterBytes: 20_000, etag: '"v1"' } as const;
    const fetched = await fetchAll(world, world.host.answer("/breaking", breaking));
    assertEquals(verdict(fetched), "fetched");
    assertEquals(fetched.bytes, BYTES);
    const asked = world.host.requests.map(({ headers }) => [headers.get("range"), headers.get("if-range")]);
    assertEquals(asked, [
      [undefined, undefined],
      ["bytes=20000-", '"v1"'],
      ["bytes=40000-", '"v1"'],
      ["bytes=60000-", '"v1"'],
    ]);
  }));

Deno.test("a transfer is taken up again a bounded number of times", () =>
  withWorld(async (world) => {
    const hopeless = { kind: "truncated", bytes: BYTES, afterBytes: 0, etag: '"v1"' } as const;
    const fetched = await fetchAll(world, world.host.answer("/hopeless", hopeless));
    assertEquals(verdict(fetched), "E_FETCH_TRUNCATED environment");
    assertEquals(world.host.requests.length, 11);
  }));

Deno.test("a transfer that falls silent is taken up again", () =>
  withWorld(async (world) => {
    const url = world.host.answer("/silent", { kind: "stall-in-body", bytes: BYTES, afterBytes: 30_000, etag: '"v1"' });
    const running = fetchAll(world, url, { bounds: { stallTimeoutMs: 100 } });
    await waitUntil("the first part is sent", () => bytesSent(world.host) === 30_000);
    world.host.answer("/silent", { kind: "file", bytes: BYTES, etag: '"v1"' });
    const fetched = await running;
    assertEquals(verdict(fetched), "fetched");
    assertEquals(fetched.bytes, BYTES);
    assertEquals(world.host.requests.at(-1)?.headers.get("range"), "bytes=30000-");
  }));

Deno.test("an artifact that changes while it is fetched is never mixed", () =>
  withWorld(async (world) => {
    const first = { kind: "stall-in-body", bytes: BYTES, afterBytes: 30_000, etag: '"v1"' } as const;
    const url = world.host.answer("/changing", first);
    const running = fetchAll(world, url, { bounds: { stallTimeoutMs: 100 } });
    await waitUntil("the first part is sent", () => bytesSent(world.host) === 30_000);
    world.host.answer("/changing", { kind: "file", bytes: new Uint8Array(BYTES.length), etag: '"v2"' });
    assertEquals(verdict(await running), "E_FETCH_RANGE environment");
  }));

Deno.test("bytes that are there already are left out, whether or not the server can", () =>
  withWorld(async (world) => {
    const cases: readonly (readonly [ArtifactBehaviour, string])[] = [
      [{ kind: "file", bytes: BYTES, etag: '"v1"' }, "fetched"],
      [{ kind: "file", bytes: BYTES }, "fetched"],
      [{ kind: "chunked", bytes: BYTES }, "fetched"],
    ];
    for (const [index, [behaviour, expected]] of cases.entries()) {
      const fetched = await fetchAll(world, world.host.answer(`/${index}`, behaviour), { offsetBytes: 40_001 });
      assertEquals(verdict(fetched), expected);
      assertEquals(fetched.bytes, BYTES.slice(40_001));
      assertEquals(world.host.requests[index]?.headers.get("range"), "bytes=40001-");
    }
    const whole = world.host.answer("/whole", { kind: "file", bytes: BYTES, etag: '"v1"' });
    const beyond = await fetchAll(world, whole, { offsetBytes: BYTES.length });
    assertEquals(verdict(beyond), "E_FETCH_RANGE environment");
  }));

Deno.test("faults of the environment are repeated, what a rule refuses is not", () =>
  withWorld(async (world) => {
    const cases: readonly (readonly [ArtifactBehaviour, number])[] = [
      [{ kind: "status", status: 503 }, 1 + FETCH_RESUMES_MAX],
      [{ kind: "status", status: 429 }, 1 + FETCH_RESUMES_MAX],
      [{ kind: "status", status: 404 }, 1],
      [{ kind: "redirect", status: 302, location: "/elsewhere" }, 1],
      [{ kind: "encoded", encoding: "gzip", bytes: BYTES }, 1],
      [{ kind: "file", bytes: new Uint8Array(MAX_BYTES + 1) }, 1],
    ];
    for (const [index, [behaviour, requests]] of cases.entries()) {
      await fetchAll(world, world.host.answer(`/${index}`, behaviour));
      assertEquals(world.host.requests.filter(({ path }) => path === `/${index}`).length, requests, behaviour.kind);
    }
    const stranger = await createTestAuthority("a stranger");
    await using host = startArtifactHost({ certificate: await stranger.issue() });
    await fetchAll(world, host.answer("/agent", { kind: "file", bytes: BYTES }));
    assertEquals(host.connections, 1, "a certificate does not get better within minutes");
  }));

Deno.test("a server that is back within the time is no failure", () =>
  withWorld(async (world) => {
    const url = world.host.answer("/late", { kind: "status", status: 502 });
    const running = fetchAll(world, url, { bounds: { resumeMinMs: 50, resumeMaxMs: 50 } });
    await waitUntil("the second try", () => world.host.requests.length >= 2);
    world.host.answer("/late", { kind: "file", bytes: BYTES });
    assertEquals(verdict(await running), "fetched");
  }));

Deno.test("a transfer without any validator is taken up too, and said to be unproven", () =>
  withWorld(async (world) => {
    const breaking = { kind: "truncated", bytes: BYTES, afterBytes: 20_000, times: 1 } as const;
    const url = world.host.answer("/breaking", breaking);
    let unproven = 0;
    const fetcher = httpsFetcher({ caFile: world.caFile, bounds: CALM });
    const request = { url, maxBytes: MAX_BYTES, sha256: "", onUnproven: () => unproven++ };
    let sizeBytes = 0;
    for await (const chunk of fetcher.fetch(request, new AbortController().signal)) sizeBytes += chunk.length;
    assertEquals([sizeBytes, unproven, world.host.requests.length], [BYTES.length, 1, 2]);
  }));

Deno.test("tries without progress are counted, and progress begins the count anew", () =>
  withWorld(async (world) => {
    const parts = 2 * FETCH_RESUMES_MAX;
    for (
      const [partBytes, expected] of [[FETCH_PROGRESS_MIN_BYTES, "fetched"], [
        FETCH_PROGRESS_MIN_BYTES - 1,
        "E_FETCH_TRUNCATED environment",
      ]] as const
    ) {
      const bytes = new Uint8Array(partBytes * parts);
      const url = world.host.answer(`/${partBytes}`, { kind: "truncated", bytes, afterBytes: partBytes, etag: '"1"' });
      const fetched = await fetchAll(world, url, { maxBytes: bytes.length });
      assertEquals(verdict(fetched), expected);
    }
  }));
