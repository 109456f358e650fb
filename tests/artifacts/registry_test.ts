/** Debian's docker-registry: what fleetctl pushes, devices install; with and without tokens, by tag and by digest. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { sha256Hex } from "../../contracts/digest.ts";
import { PUSH_PIECE_BYTES } from "../../contracts/limits.ts";
import { forget, install } from "./artifact_world.ts";
import { programBytes, type RegistryWorld, withRegistry } from "./registry_world.ts";
import { testWith } from "./servers/find_server.ts";

const ARCH = Deno.build.arch;
const OTHER = ARCH === "x86_64" ? "aarch64" : "x86_64";
const SIZE = 600_000;
const OURS = programBytes(SIZE, ARCH, 1);
const THEIRS = programBytes(SIZE + 1, OTHER, 2);

async function pushBoth(world: RegistryWorld, reference: string): Promise<{ digest: string; artifacts: unknown[] }> {
  const files = [await world.file("ours", OURS), await world.file("theirs", THEIRS)];
  const run = await world.fleetctl([
    "artifact",
    "push",
    ...files,
    reference,
    "--agent-version",
    "2.0.0",
    "-o",
    "json",
  ]);
  assertEquals(run.code, 0, run.err);
  return JSON.parse(run.out);
}

for (const tokens of [false, true]) {
  const how = tokens ? "behind tokens" : "open to everybody";
  testWith(
    "docker-registry",
    `a registry ${how}: pushed by fleetctl, installed by tag and by digest`,
    (program) =>
      withRegistry(program, { tokens }, async (world) => {
        const base = `oci://${world.registry.host}/fleet/agent`;
        const pushed = await pushBoth(world, `${base}:2.0.0`);
        const pinned = `${base}@${pushed.digest}`;
        assertEquals(
          pushed.artifacts,
          [[ARCH, OURS], [OTHER, THEIRS]].map(([arch, bytes]) => ({
            arch,
            form: "compiled",
            url: pinned,
            sha256: sha256Hex(bytes as Uint8Array),
            maxBytes: bytes?.length,
          })),
        );
        for (const url of [`${base}:2.0.0`, pinned]) {
          const outcome = await install(world, { url, sha256: sha256Hex(OURS), maxBytes: SIZE });
          assertEquals(
            [outcome.verdict, outcome.sha256, outcome.left],
            ["fetched", sha256Hex(OURS), []],
            outcome.message,
          );
          await forget(world);
        }
        const asked = world.tokens?.requests.filter(({ authorization }) => authorization === null) ?? [];
        assertEquals(asked.length, tokens ? 2 : 0, "a device asks for a token once, and without a login");
        assert(asked.every(({ url }) => url.searchParams.get("scope") === "repository:fleet/agent:pull"));
        // The other architecture's agent is the wrong one here, whatever its digest is.
        const wrong = await install(world, { url: pinned, sha256: sha256Hex(THEIRS), maxBytes: SIZE + 1 });
        assertEquals(wrong.verdict, "E_FETCH_MANIFEST policy");
        const small = await install(world, { url: pinned, sha256: sha256Hex(OURS), maxBytes: SIZE - 1 });
        assertEquals(small.verdict, "E_FETCH_TOO_LARGE policy");
        for (const missing of [`${base}:nothing`, `oci://${world.registry.host}/fleet/nothing:2.0.0`]) {
          const { verdict } = await install(world, { url: missing, sha256: sha256Hex(OURS), maxBytes: SIZE });
          assertEquals(verdict, "E_FETCH_STATUS policy");
        }
      }),
  );
}

testWith(
  "docker-registry",
  "fleetctl artifact inspect says what a device would do",
  (program) =>
    withRegistry(program, { tokens: true }, async (world) => {
      const base = `oci://${world.registry.host}/fleet/agent`;
      const { digest } = await pushBoth(world, `${base}:2.0.0`);
      const json = await world.fleetctl(["artifact", "inspect", `${base}:2.0.0`, "-o", "json"]);
      assertEquals(json.code, 0, json.err);
      const found = JSON.parse(json.out);
      assertEquals([found.accepted, found.kind, found.digest], [true, "index", digest]);
      assertEquals(found.agents.map(({ arch, version }: { arch: string; version: string }) => [arch, version]), [
        ["x86_64", "2.0.0"],
        ["aarch64", "2.0.0"],
      ]);
      const text = await world.fleetctl(["artifact", "inspect", `${base}@${digest}`]);
      assertEquals(text.code, 0);
      for (const part of ["takes it", digest, sha256Hex(OURS), "artifacts:", "application/vnd.nationtech"]) {
        assertStringIncludes(text.out, part);
      }
      const script = await world.file("script", new TextEncoder().encode("#!/bin/sh\nexit 0\n"));
      const one = await world.fleetctl(
        ["artifact", "push", script, `${base}:s`, "--agent-version", "2.0.0", "--arch", "aarch64"],
      );
      assertEquals(one.code, 0, one.err);
      assertStringIncludes(one.out, "form: script");
      const inspected = JSON.parse((await world.fleetctl(["artifact", "inspect", `${base}:s`, "-o", "json"])).out);
      assertEquals([inspected.kind, inspected.agents.length, inspected.agents[0].arch], ["manifest", 1, "aarch64"]);
    }),
);

testWith(
  "docker-registry",
  "fleetctl artifact push: what is there is not sent again, a taken tag is left alone",
  (program) =>
    withRegistry(program, { tokens: true }, async (world) => {
      const reference = `oci://${world.registry.host}/fleet/agent:2.0.0`;
      const path = await world.file("agent", programBytes(2 * PUSH_PIECE_BYTES + 1, ARCH));
      const push = (file: string, ...more: string[]) =>
        world.fleetctl(["artifact", "push", file, reference, "--agent-version", "2.0.0", "-o", "json", ...more]);
      const first = JSON.parse((await push(path)).out);
      const again = JSON.parse((await push(path)).out);
      assertEquals([first.unchanged, first.sent, again.unchanged, again.sent], [false, [path], true, []]);
      assertEquals(first.digest, again.digest);
      const other = await world.file("other", OURS);
      const taken = await push(other);
      assertEquals([taken.code, taken.out], [4, ""]);
      assertStringIncludes(taken.err, `it names another artifact, ${first.digest}`);
      assertStringIncludes(taken.err, "--force");
      const forced = await push(other, "--force");
      assertEquals(forced.code, 0);
      const outcome = await install(world, { url: reference, sha256: sha256Hex(OURS), maxBytes: SIZE });
      assertEquals(outcome.verdict, "fetched");
    }),
);

testWith(
  "docker-registry",
  "fleetctl artifact push: cut at the n-th chunk, for every n until none is cut",
  (program) =>
    withRegistry(program, { tokens: true }, async (world) => {
      const { proxy } = world.registry;
      for (let chunk = 1;; chunk++) {
        assert(chunk < 60, "no push went through without a cut");
        proxy.injected = 0;
        proxy.plan = () => proxy.injected > 0 ? { kind: "none" } : { kind: "cut-chunk", chunk };
        const bytes = programBytes(40_000, ARCH, chunk);
        const path = await world.file("agent", bytes);
        const reference = `oci://${world.registry.host}/fleet/agent:${chunk}`;
        const run = await world.fleetctl(["artifact", "push", path, reference, "--agent-version", "2.0.0"]);
        assertEquals(run.code, 0, `chunk ${chunk}: ${run.err}`);
        const cut = proxy.injected > 0;
        proxy.plan = () => ({ kind: "none" });
        const outcome = await install(world, { url: reference, sha256: sha256Hex(bytes), maxBytes: bytes.length });
        assertEquals(outcome.verdict, "fetched", `chunk ${chunk}`);
        await forget(world);
        if (!cut) break;
      }
    }),
);

testWith(
  "docker-registry",
  "logins: none, a wrong one, one from a file of docker login, and a closed repository",
  (program) =>
    withRegistry(program, { tokens: true }, async (world) => {
      const reference = `oci://${world.registry.host}/fleet/agent:2.0.0`;
      const path = await world.file("agent", OURS);
      const push = (environment: Record<string, string>, ...more: string[]) =>
        world.fleetctl(["artifact", "push", path, reference, "--agent-version", "2.0.0", ...more], environment);
      for (
        const environment of [{}, { FLEETCTL_REGISTRY_USER: "ci", FLEETCTL_REGISTRY_PASSWORD: "not-the-password" }]
      ) {
        const refused = await push(environment);
        assertEquals([refused.code, refused.out], [6, ""], refused.err);
        assertStringIncludes(refused.err, "--registry-password-file");
        assert(!refused.err.includes("not-the-password"));
      }
      const auth = btoa("ci:only for this test");
      const file = await world.file(
        "auth.json",
        new TextEncoder().encode(JSON.stringify({ auths: { [world.registry.host]: { auth } } })),
      );
      assertEquals((await push({}, "--registry-auth-file", file)).code, 0);
      const password = await world.file("password", new TextEncoder().encode("only for this test\n"));
      assertEquals((await push({}, "--registry-user", "ci", "--registry-password-file", password)).code, 0);
      world.tokens?.closed.add("fleet/agent");
      const closed = await install(world, { url: reference, sha256: sha256Hex(OURS), maxBytes: SIZE });
      assertEquals(closed.verdict, "E_FETCH_LOGIN policy");
      const inspected = await world.fleetctl(["artifact", "inspect", reference]);
      assertEquals([inspected.code, inspected.out], [6, ""], inspected.err);
      assertStringIncludes(inspected.err, "devices pull without a login");
    }),
);
