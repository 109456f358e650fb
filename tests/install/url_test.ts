import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { sourcePaths } from "../../build/source_tree.ts";
import { type ArtifactHost, startArtifactHost } from "../tls/artifact_host.ts";
import { createTestAuthority } from "../tls/test_authority.ts";
import { firstInstall, InstallWorld } from "./install_world.ts";

interface Served {
  readonly world: InstallWorld;
  readonly host: ArtifactHost;
  readonly release: string;
  /** Runs install.sh with the release's URL. */
  install(...args: string[]): ReturnType<InstallWorld["live"]>;
}

/** A release behind https, whose authority the device trusts. */
function served(fn: (served: Served) => Promise<void>): Promise<void> {
  return InstallWorld.use(async (world) => {
    const authority = await createTestAuthority();
    await Deno.writeTextFile(world.path("authority.pem"), authority.caCert);
    await using host = startArtifactHost({ certificate: await authority.issue() });
    const release = await world.release("1.0.0");
    for (const path of await sourcePaths(release)) {
      host.answer(`/fleet/${path}`, { kind: "file", bytes: await Deno.readFile(join(release, path)) });
    }
    const env = { CURL_CA_BUNDLE: world.path("authority.pem") };
    const install = (...args: string[]) =>
      world.live([...firstInstall(world, `${host.origin}/fleet/`), ...args], { env });
    await fn({ world, host, release, install });
  });
}

Deno.test("install.sh takes a release from an https URL, and fetches nothing that the device has", () =>
  served(async ({ host, install, world }) => {
    const { code, err, out } = await install();
    assertEquals([code, err], [0, ""]);
    assertStringIncludes(out, "+ fleet-agent 1.0.0 is READY\n");
    const fromFolder = await world.tree();
    const requested = host.requests.length;
    assertStringIncludes((await install()).out, "Nothing to change\n");
    assertEquals(host.requests.slice(requested).map(({ path }) => path), ["/fleet/SHA256SUMS", "/fleet/VERSION"]);
    assertEquals(await world.tree(), fromFolder);
  }));

Deno.test("install.sh takes nothing from a host that it does not trust, that lies, redirects or breaks off", () =>
  served(async ({ host, install, release, world }) => {
    const before = await world.tree();
    const refused = async (message: RegExp, ...args: string[]) => {
      const { code, err } = await install(...args);
      assertEquals(code, 1);
      assertMatch(err, message);
      const after = Object.keys(await world.tree()).filter((path) => !/\.lock$|\/usr\/lib\/harmony-fleet$/.test(path));
      assertEquals(after, Object.keys(before));
    };
    const path = "bin/x86_64/fleet-updater";
    const bytes = await Deno.readFile(join(release, path));
    host.answer(`/fleet/${path}`, { kind: "file", bytes: bytes.subarray(1) });
    await refused(/fleet-updater is not what SHA256SUMS says\n$/);
    host.answer(`/fleet/${path}`, { kind: "redirect", status: 302, location: `${host.origin}/fleet/VERSION` });
    await refused(/cannot fetch https:.*\/fleet\/bin\/x86_64\/fleet-updater\n$/);
    host.answer(`/fleet/${path}`, { kind: "truncated", bytes, afterBytes: 10 });
    await refused(/cannot fetch https:.*\/fleet\/bin\/x86_64\/fleet-updater\n$/);
    host.answer("/fleet/SHA256SUMS", { kind: "status", status: 404 });
    await refused(/cannot fetch https:.*\/fleet\/SHA256SUMS\n$/);
    const untrusted = await world.live(firstInstall(world, `${host.origin}/fleet`));
    assertEquals(untrusted.code, 1);
    assertMatch(untrusted.err, /cannot fetch https:/);
    assert(!Object.keys(await world.tree()).some((name) => name.endsWith("/fleet-agent")));
  }));

Deno.test("install.sh can be piped into a shell, and one that was cut off does nothing", () =>
  served(async ({ host, world }) => {
    const text = await Deno.readTextFile(new URL("../../install.sh", import.meta.url));
    const pipe = async (script: string) => {
      const child = new Deno.Command("sh", {
        args: ["-s", "--", "--root", world.root, ...firstInstall(world, `${host.origin}/fleet`)],
        env: { CURL_CA_BUNDLE: world.path("authority.pem") },
        stdin: "piped",
        stdout: "null",
        stderr: "null",
      }).spawn();
      const writer = child.stdin.getWriter();
      await writer.write(new TextEncoder().encode(script)).catch(() => {});
      await writer.close().catch(() => {});
      return (await child.status).code;
    };
    const before = await world.tree();
    for (const share of [0.3, 0.6, 0.9]) await pipe(text.slice(0, text.length * share));
    await pipe(text.slice(0, text.lastIndexOf("main ")));
    assertEquals(await world.tree(), before);
    assertEquals(await pipe(text), 0);
    assert(Object.keys(await world.tree()).includes("/usr/local/bin/fleet-agent"));
  }));
