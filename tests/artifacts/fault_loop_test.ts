/**
 * The connection is cut at its n-th chunk, for every n until nothing is left to cut. Whatever n is, the artifact is
 * installed whole or not at all, what came is kept, and an attempt that follows needs only the rest.
 */
import { assert, assertEquals } from "@std/assert";
import { sha256Hex } from "../../contracts/digest.ts";
import { FETCH_RESUMES_MAX } from "../../contracts/limits.ts";
import { OCI_MANIFEST_TYPE } from "../../contracts/oci_artifact.ts";
import { freshSeed, seededRandom } from "../fakes/seeded_random.ts";
import type { ArtifactBehaviour } from "../tls/artifact_behaviour.ts";
import { startArtifactHost } from "../tls/artifact_host.ts";
import { artifactBytes, type ArtifactWorld, forget, install, withArtifactWorld } from "./artifact_world.ts";
import { type FaultProxy, startFaultProxy } from "./servers/fault_proxy.ts";
import { manifestOver, startScriptedRegistry } from "./servers/scripted_registry.ts";

const BYTES = artifactBytes(150_000);
const SHA256 = sha256Hex(BYTES);
const LAST_CHUNK_MAX = 60;

interface FaultyWorld extends ArtifactWorld {
  readonly proxy: FaultProxy;
  readonly url: string;
}

/** A server that is reached through a proxy, for each scheme. */
const SCHEMES: Readonly<Record<string, (test: (world: FaultyWorld) => Promise<void>) => Promise<void>>> = {
  https: (test) => withHost({ kind: "file", bytes: BYTES, etag: '"1"' }, test),
  "https without a validator": (test) => withHost({ kind: "file", bytes: BYTES }, test),
  oci: (test) =>
    withArtifactWorld(async (world) => {
      await using registry = startScriptedRegistry(await world.authority.issue());
      const layer = { digest: registry.blob(BYTES), size: BYTES.length };
      registry.document("tag", OCI_MANIFEST_TYPE, manifestOver(layer));
      await using proxy = startFaultProxy({ hostname: "127.0.0.1", port: Number(registry.host.split(":")[1]) });
      await test({ ...world, proxy, url: `oci://localhost:${proxy.port}/agent:tag` });
    }),
};

function withHost(behaviour: ArtifactBehaviour, test: (world: FaultyWorld) => Promise<void>): Promise<void> {
  return withArtifactWorld(async (world) => {
    await using host = startArtifactHost({ certificate: await world.authority.issue() });
    host.answer("/agent", behaviour);
    await using proxy = startFaultProxy({ hostname: "127.0.0.1", port: host.port });
    await test({ ...world, proxy, url: `https://localhost:${proxy.port}/agent` });
  });
}

const run = (world: FaultyWorld, stallTimeoutMs = 30_000) =>
  install(world, {
    url: world.url,
    sha256: SHA256,
    maxBytes: BYTES.length,
    bounds: { stallTimeoutMs, connectTimeoutMs: 2_000 },
  });

for (const [scheme, within] of Object.entries(SCHEMES)) {
  Deno.test(`${scheme}: one cut at the n-th chunk is taken up within the attempt, for every n`, () =>
    within(async (world) => {
      const { proxy } = world;
      for (let chunk = 1;; chunk++) {
        assert(chunk <= LAST_CHUNK_MAX, "no run went through without a cut");
        await forget(world);
        proxy.injected = 0;
        proxy.plan = () => proxy.injected > 0 ? { kind: "none" } : { kind: "cut-chunk", chunk };
        const outcome = await run(world);
        assertEquals([outcome.verdict, outcome.sha256, outcome.left], ["fetched", SHA256, []], `chunk ${chunk}`);
        if (proxy.injected === 0) break;
      }
    }));

  Deno.test(`${scheme}: cut at the n-th chunk of every connection, attempt after attempt until one succeeds`, () =>
    within(async (world) => {
      const { proxy } = world;
      for (let chunk = 1;; chunk++) {
        assert(chunk <= LAST_CHUNK_MAX, "no attempt went through");
        proxy.injected = 0;
        proxy.plan = () => ({ kind: "cut-chunk", chunk });
        const { verdict, sha256, left } = await run(world);
        if (sha256 !== null) {
          assertEquals([sha256, left], [SHA256, []]);
          assert(verdict === "fetched" || verdict === "resumed", verdict);
          break;
        }
        assert(proxy.injected > FETCH_RESUMES_MAX, `${proxy.injected} cuts end an attempt`);
        assert(verdict.endsWith(" environment"), verdict);
        assert(left.length === 0 || left[0] === `.partial-${SHA256}`, `${left}`);
      }
    }));

  Deno.test(`${scheme}: cuts and stalls at random bytes`, async () => {
    const seed = freshSeed();
    const random = seededRandom(seed);
    await within(async (world) => {
      for (let round = 0; round < 6; round++) {
        await forget(world);
        const faulty = Math.floor(random() * FETCH_RESUMES_MAX);
        const start = world.proxy.connections;
        world.proxy.plan = (connection) => {
          if (connection - start > faulty) return { kind: "none" };
          return { kind: random() < 0.3 ? "stall" : "cut", afterBytes: Math.floor(random() * BYTES.length) };
        };
        const { verdict, sha256 } = await run(world, 300);
        assertEquals([verdict, sha256], ["fetched", SHA256], `seed ${seed}, round ${round}`);
      }
    });
  });
}
