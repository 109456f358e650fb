/** A real nginx: what it does by itself, what it is told to do, and what a proxy before it does to its connections. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { sha256Hex } from "../../contracts/digest.ts";
import { startArtifactHost } from "../tls/artifact_host.ts";
import {
  artifactBytes,
  type ArtifactWorld,
  forget,
  install,
  type InstallOptions,
  withArtifactWorld,
} from "./artifact_world.ts";
import { testWith } from "./servers/find_server.ts";
import { startNginx } from "./servers/nginx_server.ts";
import type { ServerProcess } from "./servers/server_process.ts";

const BYTES = artifactBytes(700_000);
const SHA256 = sha256Hex(BYTES);

interface NginxWorld extends ArtifactWorld {
  readonly nginx: ServerProcess;
  readonly www: string;
  of(location: string, more?: Partial<InstallOptions>): InstallOptions;
}

function withNginx(
  program: string,
  test: (world: NginxWorld) => Promise<void>,
  upstream?: string,
): Promise<void> {
  return withArtifactWorld(async (world) => {
    const directory = `${world.directory}/n`;
    const certificate = await world.authority.issue();
    await using nginx = await startNginx({
      program,
      directory,
      certificate,
      ...(upstream === undefined ? {} : { upstream }),
    });
    const www = `${directory}/www`;
    await Deno.writeFile(`${www}/agent`, BYTES);
    // Settled long ago, so that its time of modification tells it from a later one.
    await Deno.utime(`${www}/agent`, new Date(0), new Date("2026-01-01"));
    const packed = new Blob([BYTES]).stream().pipeThrough(new CompressionStream("gzip"));
    await Deno.writeFile(`${www}/agent.gz`, packed);
    const of = (location: string, more: Partial<InstallOptions> = {}): InstallOptions => ({
      url: `https://${nginx.host}/${location}/agent`,
      sha256: SHA256,
      maxBytes: BYTES.length,
      ...more,
    });
    await test({ ...world, nginx, www, of });
  });
}

testWith(
  "nginx",
  "nginx: installs what it serves, and its gzip is never asked for",
  (program) =>
    withNginx(program, async (world) => {
      for (const location of ["plain", "gzip", "dated", "untold", "whole"]) {
        const outcome = await install(world, world.of(location));
        assertEquals([outcome.verdict, outcome.sha256, outcome.left], ["fetched", SHA256, []], location);
        await forget(world);
      }
    }),
);

testWith(
  "nginx",
  "nginx: a redirect, a missing file, and a body that is packed for everybody are refused",
  (program) =>
    withNginx(program, async (world) => {
      const cases = [
        ["moved", "E_FETCH_REDIRECT policy"],
        ["packed", "E_FETCH_ENCODING policy"],
        ["plain/missing", "E_FETCH_STATUS policy"],
      ] as const;
      for (const [location, verdict] of cases) {
        assertEquals((await install(world, world.of(location))).verdict, verdict, location);
      }
      assertEquals(world.nginx.proxy.connections, cases.length, "no rule's refusal is asked for again");
      const large = await install(world, world.of("plain", { maxBytes: BYTES.length - 1 }));
      assertEquals(large.verdict, "E_FETCH_TOO_LARGE policy");
    }),
);

testWith(
  "nginx",
  "nginx: a connection that is cut or falls silent is taken up, with ranges and without",
  (program) =>
    withNginx(program, async (world) => {
      for (const location of ["plain", "dated", "untold", "whole"]) {
        for (const kind of ["cut", "stall"] as const) {
          world.nginx.proxy.connections = 0;
          world.nginx.proxy.plan = (connection) =>
            connection <= 2 ? { kind, afterBytes: 300_000 * connection } : { kind: "none" };
          const outcome = await install(world, world.of(location, { bounds: { stallTimeoutMs: 300 } }));
          assertEquals([outcome.verdict, outcome.sha256], ["fetched", SHA256], `${location} ${kind}`);
          assert(
            world.nginx.proxy.connections >= 2,
            `${location} ${kind}: ${world.nginx.proxy.connections} connections`,
          );
          await forget(world);
        }
      }
    }),
);

testWith(
  "nginx",
  "nginx: a file that changes while it is fetched is begun anew, and the new one decides",
  (program) =>
    withNginx(program, async (world) => {
      const newer = artifactBytes(700_000, 2);
      for (const location of ["plain", "dated", "untold"]) {
        await Deno.writeFile(`${world.www}/agent`, BYTES);
        await Deno.utime(`${world.www}/agent`, new Date(0), new Date("2026-01-01"));
        world.nginx.proxy.connections = 0;
        world.nginx.proxy.plan = (connection) => {
          if (connection === 1) return { kind: "cut", afterBytes: 300_000 };
          if (connection === 2) {
            Deno.writeFileSync(`${world.www}/agent`, newer);
            Deno.utimeSync(`${world.www}/agent`, new Date(0), new Date("2026-02-01"));
          }
          return { kind: "none" };
        };
        const outcome = await install(world, world.of(location, { sha256: sha256Hex(newer) }));
        assertEquals([outcome.verdict, outcome.sha256], ["fetched", sha256Hex(newer)], location);
        assertEquals(world.nginx.proxy.connections, 3, location);
        await forget(world);
      }
    }),
);

testWith(
  "nginx",
  "nginx: a slow server is waited for up to the whole time, and the next attempt goes on",
  (program) =>
    withNginx(program, async (world) => {
      const bounds = { requestTimeoutMs: 3_000 };
      const first = await install(world, world.of("slow", { bounds }));
      assertEquals(first.verdict, "E_FETCH_TIMEOUT environment");
      assertEquals(first.left, [`.partial-${SHA256}`]);
      const second = await install(world, world.of("plain"));
      assertEquals([second.verdict, second.sha256, second.left], ["resumed", SHA256, []]);
    }),
);

testWith("nginx", "nginx before a server that lies about its length or breaks off", async (program) => {
  await withArtifactWorld(async ({ authority }) => {
    await using host = startArtifactHost({ certificate: await authority.issue() });
    host.answer("/agent", { kind: "wrong-length", bytes: BYTES, contentLength: BYTES.length + 1 });
    await withNginx(program, async (world) => {
      const of = () => install(world, world.of("upstream", { maxBytes: BYTES.length + 1 }));
      const long = await of();
      assertMatch(long.verdict, /^E_FETCH_(TRUNCATED|RANGE) environment$/);
      host.answer("/agent", { kind: "wrong-length", bytes: BYTES, contentLength: BYTES.length - 1 });
      await forget(world);
      assertEquals((await of()).verdict, "E_DIGEST_MISMATCH policy");
      host.answer("/agent", { kind: "truncated", bytes: BYTES, afterBytes: 400_000, etag: '"1"' });
      await forget(world);
      const resumed = await of();
      assertEquals([resumed.verdict, resumed.sha256], ["fetched", SHA256]);
    }, host.origin);
  });
});
