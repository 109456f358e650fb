/** Real TLS, real sockets: every fault that the artifact host can be told to have. */
import { assert, assertEquals, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import { sha256Hex } from "../../../contracts/digest.ts";
import {
  ARTIFACT_MAX_BYTES,
  CA_BUNDLE_MAX_BYTES,
  DIGEST_CHUNK_BYTES,
  FETCH_READ_BYTES,
  FETCH_RESUMES_MAX,
  HTTPS_CONNECT_TIMEOUT_MS,
  HTTPS_REQUEST_TIMEOUT_MS,
} from "../../../contracts/limits.ts";
import { httpsFetcher } from "../../../lib/fetch/https_fetcher.ts";
import { loweredBound } from "../../../lib/lowered_bound.ts";
import type { ArtifactBehaviour } from "../../tls/artifact_behaviour.ts";
import { startArtifactHost } from "../../tls/artifact_host.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { forwardingProxy } from "../../tls/forwarding_proxy.ts";
import { createTestAuthority } from "../../tls/test_authority.ts";

import { BYTES, bytesSent, fetchAll, MAX_BYTES, verdict, withWorld } from "./fetch_world.ts";

Deno.test("fetch() yields the bytes as they are", () =>
  withWorld(async (world) => {
    for (const kind of ["file", "chunked"] as const) {
      const fetched = await fetchAll(world, world.host.answer(`/${kind}`, { kind, bytes: BYTES }));
      assertEquals(verdict(fetched), "fetched");
      assertEquals(fetched.bytes, BYTES);
    }
    const { headers, method } = world.host.requests[0] ?? {};
    assertEquals([method, headers?.get("accept-encoding"), headers?.get("range")], ["GET", "identity", undefined]);
  }));

Deno.test("bodies around the sizes of the buffers come whole, also when they break and are taken up again", () =>
  withWorld(async (world) => {
    const all = new Uint8Array(2 * DIGEST_CHUNK_BYTES + 1);
    for (let at = 0; at < all.length; at += 65_536) crypto.getRandomValues(all.subarray(at, at + 65_536));
    for (const size of [FETCH_READ_BYTES, DIGEST_CHUNK_BYTES, 2 * DIGEST_CHUNK_BYTES]) {
      for (const sizeBytes of [size - 1, size, size + 1]) {
        const bytes = all.subarray(0, sizeBytes);
        const whole = await fetchAll(world, world.host.answer(`/whole-${sizeBytes}`, { kind: "file", bytes }), {
          maxBytes: sizeBytes,
        });
        assertEquals([verdict(whole), whole.bytes.length], ["fetched", sizeBytes]);
        assertEquals(sha256Hex(whole.bytes), sha256Hex(bytes));
        const url = world.host.answer(`/broken-${sizeBytes}`, {
          kind: "truncated",
          bytes,
          afterBytes: size - 1,
          etag: '"1"',
          times: 1,
        });
        const resumed = await fetchAll(world, url, { maxBytes: sizeBytes });
        assertEquals([verdict(resumed), sha256Hex(resumed.bytes)], ["fetched", sha256Hex(bytes)]);
      }
    }
  }));

Deno.test("each fault gives one typed error", () =>
  withWorld(async (world) => {
    const cases: readonly (readonly [ArtifactBehaviour, string])[] = [
      [{ kind: "redirect", status: 302, location: "/elsewhere" }, "E_FETCH_REDIRECT policy"],
      [{ kind: "redirect", status: 308, location: "https://example.com/" }, "E_FETCH_REDIRECT policy"],
      [{ kind: "status", status: 404 }, "E_FETCH_STATUS policy"],
      [{ kind: "status", status: 403 }, "E_FETCH_STATUS policy"],
      [{ kind: "status", status: 500 }, "E_FETCH_STATUS environment"],
      [{ kind: "status", status: 503 }, "E_FETCH_STATUS environment"],
      [{ kind: "truncated", bytes: BYTES, afterBytes: 1_000 }, "E_FETCH_TRUNCATED environment"],
      [{ kind: "chunked-truncated", bytes: BYTES }, "E_FETCH_TRUNCATED environment"],
      [{ kind: "wrong-length", bytes: BYTES, contentLength: BYTES.length + 1 }, "E_FETCH_TRUNCATED environment"],
      [{ kind: "encoded", encoding: "gzip", bytes: BYTES }, "E_FETCH_ENCODING policy"],
      [{ kind: "endless" }, "E_FETCH_TOO_LARGE policy"],
      [{ kind: "file", bytes: new Uint8Array(MAX_BYTES + 1) }, "E_FETCH_TOO_LARGE policy"],
      [{ kind: "chunked", bytes: new Uint8Array(MAX_BYTES + 1) }, "E_FETCH_TOO_LARGE policy"],
      [{ kind: "file", bytes: new Uint8Array(MAX_BYTES) }, "fetched"],
      [{ kind: "chunked", bytes: new Uint8Array(MAX_BYTES) }, "fetched"],
      [{ kind: "file", bytes: new Uint8Array(MAX_BYTES - 1) }, "fetched"],
    ];
    for (const [index, [behaviour, expected]] of cases.entries()) {
      const fetched = await fetchAll(world, world.host.answer(`/${index}`, behaviour));
      assertEquals(verdict(fetched), expected, `${index} ${behaviour.kind}`);
      assert(fetched.bytes.length <= MAX_BYTES, "more bytes were yielded than the limit allows");
      assertStringIncludes(fetched.error?.message ?? `/${index}`, `/${index}`);
    }
  }));

Deno.test("a gzip bomb is neither decoded nor downloaded", () =>
  withWorld(async (world) => {
    const bombed = new Blob([new Uint8Array(64 * 1_024 * 1_024)]).stream().pipeThrough(new CompressionStream("gzip"));
    const bomb = new Uint8Array(await new Response(bombed).arrayBuffer());
    const fetched = await fetchAll(
      world,
      world.host.answer("/bomb", { kind: "encoded", encoding: "gzip", bytes: bomb }),
    );
    assertEquals(verdict(fetched), "E_FETCH_ENCODING policy");
    assertEquals(fetched.bytes.length, 0);
  }));

Deno.test("a length above the limit ends the request before the body", () =>
  withWorld(async (world) => {
    const url = world.host.answer("/large", { kind: "wrong-length", bytes: BYTES, contentLength: MAX_BYTES + 1 });
    const fetched = await fetchAll(world, url);
    assertEquals([verdict(fetched), fetched.bytes.length], ["E_FETCH_TOO_LARGE policy", 0]);
    await world.host.requests[0]?.ended;
  }));

Deno.test("an endless body is cut soon after the limit, and the connection is closed", () =>
  withWorld(async (world) => {
    const fetched = await fetchAll(world, world.host.answer("/endless", { kind: "endless" }));
    assertEquals(verdict(fetched), "E_FETCH_TOO_LARGE policy");
    const seen = world.host.requests[0];
    await seen?.ended;
    // What was sent beyond the limit stood in the sockets' buffers.
    assertLess(seen?.bodyBytesSent ?? Infinity, MAX_BYTES + 16 * 1_024 * 1_024);
  }));

Deno.test("whoever stops reading closes the connection", () =>
  withWorld(async (world) => {
    const url = world.host.answer("/endless", { kind: "endless" });
    const fetcher = httpsFetcher({ caFile: world.caFile });
    const request = { url, maxBytes: 4 * DIGEST_CHUNK_BYTES, sha256: "" };
    for await (const chunk of fetcher.fetch(request, new AbortController().signal)) {
      assert(chunk.length > 0);
      break;
    }
    await world.host.requests[0]?.ended;
  }));

Deno.test("silence before the header ends at the first bound, silence in the body at the whole one", () =>
  withWorld(async (world) => {
    const silent = world.host.answer("/silent", { kind: "stall-before-header" });
    const noHeader = await fetchAll(world, silent, { bounds: { connectTimeoutMs: 50 } });
    assertEquals(verdict(noHeader), "E_FETCH_TIMEOUT environment");
    assertStringIncludes(noHeader.error?.message ?? "", "no response within 50 ms");
    const stalling = world.host.answer("/stalling", { kind: "stall-in-body", bytes: BYTES, afterBytes: 100 });
    const stalled = await fetchAll(world, stalling, { bounds: { requestTimeoutMs: 150 } });
    assertEquals([verdict(stalled), stalled.bytes.length], ["E_FETCH_TIMEOUT environment", 100]);
    assertStringIncludes(stalled.error?.message ?? "", "not done within 150 ms");
    for (const request of world.host.requests) await request.ended;
  }));

Deno.test("a server that accepts and then says nothing, not even TLS, ends at the first bound", () =>
  withWorld(async (world) => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const accepted = listener.accept();
    const url = `https://127.0.0.1:${listener.addr.port}/agent`;
    const fetched = await fetchAll(world, url, { bounds: { connectTimeoutMs: 50 } });
    assertEquals(verdict(fetched), "E_FETCH_TIMEOUT environment");
    (await accepted).close();
  }));

Deno.test("bounds can be lowered and never raised", () => {
  assertEquals(loweredBound(HTTPS_CONNECT_TIMEOUT_MS, undefined), 15_000);
  assertEquals(loweredBound(HTTPS_REQUEST_TIMEOUT_MS, 300_000), 300_000);
  assertEquals(loweredBound(HTTPS_REQUEST_TIMEOUT_MS, 299_999), 299_999);
  assertEquals(loweredBound(HTTPS_REQUEST_TIMEOUT_MS, 300_001), 300_000);
});

Deno.test("the compiled ceiling holds whatever the attempt says", () =>
  withWorld(async (world) => {
    const above = { kind: "wrong-length", bytes: BYTES, contentLength: ARTIFACT_MAX_BYTES + 1 } as const;
    const fetched = await fetchAll(world, world.host.answer("/huge", above), { maxBytes: 2 * ARTIFACT_MAX_BYTES });
    assertEquals(verdict(fetched), "E_FETCH_TOO_LARGE policy");
  }));

Deno.test("canceling ends a transfer and one that has not begun", () =>
  withWorld(async (world) => {
    const url = world.host.answer("/stalling", { kind: "stall-in-body", bytes: BYTES, afterBytes: 100 });
    const canceling = new AbortController();
    const running = fetchAll(world, url, { signal: canceling.signal });
    await waitUntil("the first part is sent", () => bytesSent(world.host) === 100);
    canceling.abort();
    assertEquals(verdict(await running), "E_FETCH_CANCELED environment");
    assertEquals(verdict(await fetchAll(world, url, { signal: AbortSignal.abort() })), "E_FETCH_CANCELED environment");
    assertEquals(world.host.requests.length, 1);
  }));

Deno.test("certificates that are expired, unknown or for another name are refused", () =>
  withWorld(async (world) => {
    const stranger = await createTestAuthority("a stranger");
    const cases = [
      [await world.authority.issueExpired(), "expired"],
      [await world.authority.issue({ notBefore: new Date(Date.now() + 3_600_000) }), "not valid yet"],
      [await stranger.issue(), "authority"],
      [await world.authority.issue({ names: ["example.com"] }), "another name"],
    ] as const;
    for (const [certificate, word] of cases) {
      await using host = startArtifactHost({ certificate });
      const fetched = await fetchAll(world, host.answer("/agent", { kind: "file", bytes: BYTES }));
      assertEquals(verdict(fetched), "E_FETCH_TLS environment", word);
      assertStringIncludes(fetched.error?.message ?? "", word);
    }
  }));

Deno.test("a name, an IPv4 and an IPv6 address are each verified as what they are", () =>
  withWorld(async (world) => {
    const addresses = [["127.0.0.1", undefined], ["127.0.0.1", "localhost"], ["::1", undefined]] as const;
    for (const [hostname, urlHost] of addresses) {
      const certificate = await world.authority.issue({ names: [urlHost ?? hostname] });
      await using host = startArtifactHost({ certificate, hostname, ...(urlHost === undefined ? {} : { urlHost }) });
      const fetched = await fetchAll(world, host.answer("/agent", { kind: "file", bytes: BYTES }));
      assertEquals([verdict(fetched), fetched.bytes.length], ["fetched", BYTES.length], host.origin);
    }
  }));

Deno.test("a missing or senseless CA file is an error of the device", () =>
  withWorld(async (world) => {
    const url = world.host.answer("/agent", { kind: "file", bytes: BYTES });
    assertEquals(verdict(await fetchAll(world, url, { caFile: "/nonexistent/ca.pem" })), "E_FETCH_CA_FILE environment");
    await Deno.writeTextFile(world.caFile, "no certificate");
    assertEquals(verdict(await fetchAll(world, url)), "E_FETCH_CA_FILE environment");
    await Deno.writeTextFile(world.caFile, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    assertEquals(verdict(await fetchAll(world, url)), "E_FETCH_CA_FILE environment");
  }));

Deno.test("every authority of a CA file is trusted, however the file was put together", () =>
  withWorld(async (world) => {
    const url = world.host.answer("/agent", { kind: "file", bytes: BYTES });
    const other = (await createTestAuthority("another")).caCert.trimEnd();
    for (const between of ["\n", "", "\r\n# a comment\r\n"]) {
      await Deno.writeTextFile(world.caFile, `${other}${between}${world.authority.caCert}`);
      assertEquals(verdict(await fetchAll(world, url)), "fetched", JSON.stringify(between));
    }
    await Deno.writeTextFile(world.caFile, other);
    assertEquals(verdict(await fetchAll(world, url)), "E_FETCH_TLS environment");
  }));

Deno.test("a CA file is read up to its limit", () =>
  withWorld(async (world) => {
    const url = world.host.answer("/agent", { kind: "file", bytes: BYTES });
    for (const extra of [-1, 0, 1]) {
      await Deno.writeTextFile(world.caFile, world.authority.caCert.padEnd(CA_BUNDLE_MAX_BYTES + extra, "\n"));
      assertEquals(verdict(await fetchAll(world, url)), extra > 0 ? "E_FETCH_CA_FILE environment" : "fetched");
    }
  }));

Deno.test("no name, no listener and no https are errors without a connection", () =>
  withWorld(async (world) => {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr;
    listener.close();
    assertEquals(verdict(await fetchAll(world, `https://127.0.0.1:${port}/`)), "E_FETCH_CONNECT environment");
    const nameless = await fetchAll(world, "https://no-such-host.invalid/", { bounds: { requestTimeoutMs: 2_000 } });
    // A machine whose name server does not answer has no answer in time.
    assertMatch(verdict(nameless), /^E_FETCH_(?:DNS|TIMEOUT) environment$/);
    assertEquals(verdict(await fetchAll(world, `http://127.0.0.1:${world.host.port}/`)), "E_FETCH_URL policy");
    assertEquals(verdict(await fetchAll(world, "not a URL")), "E_FETCH_URL policy");
    assertEquals(world.host.connections, 0);
  }));

Deno.test("the proxy of the environment is used, and one that refuses is no fault of the release", () =>
  withWorld(async (world) => {
    const url = world.host.answer("/agent", { kind: "file", bytes: BYTES });
    const before = (["HTTPS_PROXY", "NO_PROXY"] as const).map((name) => [name, Deno.env.get(name)] as const);
    Deno.env.delete("NO_PROXY");
    await using proxy = forwardingProxy();
    Deno.env.set("HTTPS_PROXY", `http://127.0.0.1:${proxy.port}`);
    try {
      const fetched = await fetchAll(world, url);
      assertEquals([verdict(fetched), fetched.bytes.length], ["fetched", BYTES.length]);
      Deno.env.set("NO_PROXY", "127.0.0.0/8,example.com");
      assertEquals(verdict(await fetchAll(world, url)), "fetched");
      assertEquals(proxy.asked.length, 1, "what NO_PROXY names is reached without it");
      Deno.env.delete("NO_PROXY");
      proxy.refusing = true;
      assertEquals(verdict(await fetchAll(world, url)), "E_FETCH_CONNECT environment");
      assertEquals(new Set(proxy.asked), new Set([`127.0.0.1:${world.host.port}`]));
      assertEquals(proxy.asked.length, 1 + 1 + FETCH_RESUMES_MAX, "what refuses may let through later");
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) Deno.env.delete(name);
        else Deno.env.set(name, value);
      }
    }
  }));
