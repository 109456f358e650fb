/** Tokens and redirects of registries: what a device carries, where it follows, and where it stops. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { sha256Hex } from "../../contracts/digest.ts";
import { FETCH_RESUMES_MAX, OCI_REDIRECTS_MAX, OCI_TOKEN_ANSWER_MAX_BYTES } from "../../contracts/limits.ts";
import { OCI_MANIFEST_TYPE } from "../../contracts/oci_artifact.ts";
import { forwardingProxy } from "../tls/forwarding_proxy.ts";
import {
  artifactBytes,
  type ArtifactWorld,
  forget,
  install,
  type InstallOutcome,
  withArtifactWorld,
} from "./artifact_world.ts";
import { startFaultProxy } from "./servers/fault_proxy.ts";
import { manifestOver, ranged, type ScriptedRegistry, startScriptedRegistry } from "./servers/scripted_registry.ts";

const BYTES = artifactBytes(100_000);
const SHA256 = sha256Hex(BYTES);
const BLOB = `/v2/agent/blobs/sha256:${SHA256}`;
const MANIFEST = "/v2/agent/manifests/tag";

interface LoginWorld extends ArtifactWorld {
  readonly registry: ScriptedRegistry;
  /** Another host: a token service, or a storage. */
  readonly other: ScriptedRegistry;
  install(followBlobRedirects?: boolean): Promise<InstallOutcome>;
}

function withRegistry(test: (world: LoginWorld) => Promise<void>): Promise<void> {
  return withArtifactWorld(async (world) => {
    await using registry = startScriptedRegistry(await world.authority.issue());
    await using other = startScriptedRegistry(await world.authority.issue());
    registry.document("tag", OCI_MANIFEST_TYPE, manifestOver({ digest: registry.blob(BYTES), size: BYTES.length }));
    await test({
      ...world,
      registry,
      other,
      install: async (followBlobRedirects = true) => {
        await forget(world);
        const url = `oci://${registry.host}/agent:tag`;
        return await install(world, { url, sha256: SHA256, maxBytes: BYTES.length, followBlobRedirects });
      },
    });
  });
}

const redirect = (location: string, status = 307) => () => new Response(null, { status, headers: { location } });

Deno.test("a blob is followed to a storage, without the registry's token and with the range", () =>
  withRegistry(async ({ registry, other, install }) => {
    const manifest = JSON.stringify(manifestOver({ digest: `sha256:${SHA256}`, size: BYTES.length }));
    const challenge = { "www-authenticate": `Bearer realm="${other.origin}/token",service="s"` };
    other.answer("/token", () => Response.json({ token: "t0ken" }));
    registry.answer(
      MANIFEST,
      ({ headers }) =>
        headers.get("authorization") === "Bearer t0ken"
          ? new Response(manifest, { headers: { "content-type": OCI_MANIFEST_TYPE } })
          : new Response("", { status: 401, headers: challenge }),
    );
    await using storage = startFaultProxy({ hostname: "127.0.0.1", port: Number(new URL(other.origin).port) });
    registry.answer(BLOB, redirect(`https://localhost:${storage.port}/storage?signature=x`));
    other.answer("/storage", (request) => ranged(BYTES, request));
    storage.plan = (connection) => connection === 1 ? { kind: "cut", afterBytes: 50_000 } : { kind: "none" };
    const outcome = await install();
    assertEquals([outcome.verdict, outcome.sha256], ["fetched", SHA256], outcome.message);
    const blobs = registry.requests.filter(({ path }) => path === BLOB);
    assertEquals(blobs.map(({ headers }) => headers.get("authorization")), ["Bearer t0ken", "Bearer t0ken"]);
    const stored = other.requests.filter(({ path }) => path === "/storage");
    assertEquals(stored.map(({ headers }) => [headers.get("authorization"), headers.get("cookie")]), [
      [null, null],
      [null, null],
    ]);
    assertEquals(stored.map(({ headers }) => headers.get("range") !== null), [false, true]);
  }));

Deno.test("redirects of a blob at their limit, and with the setting that turns them off", () =>
  withRegistry(async ({ registry, other, install }) => {
    for (const extra of [-1, 0, 1]) {
      const count = OCI_REDIRECTS_MAX + extra;
      registry.answer(BLOB, redirect(`${other.origin}/1`));
      for (let hop = 1; hop < count; hop++) other.answer(`/${hop}`, redirect(`/${hop + 1}`, 302));
      other.answer(`/${count}`, () => new Response(BYTES));
      const { verdict, message } = await install();
      assertEquals(verdict, extra > 0 ? "E_FETCH_REDIRECT policy" : "fetched", `${count} redirects`);
      if (extra > 0) assertStringIncludes(message, `more than ${OCI_REDIRECTS_MAX} times`);
    }
    assertEquals((await install(false)).verdict, "E_FETCH_REDIRECT policy");
  }));

Deno.test("redirects to anything but https without credentials are refused, and all of manifests and tokens", () =>
  withRegistry(async ({ registry, other, install }) => {
    const cases = [
      [`http://${other.host}/x`, "to http, must be https"],
      [`https://user:secret@${other.host}/x`, "to a URL with credentials"],
      ["file:///etc/passwd", "to file, must be https"],
      ["https://", "to nowhere"],
    ] as const;
    for (const [location, problem] of cases) {
      registry.answer(BLOB, redirect(location));
      const { verdict, message } = await install();
      assertEquals(verdict, "E_FETCH_REDIRECT policy");
      assertStringIncludes(message, problem);
      assertEquals(message.includes("secret"), false);
    }
    registry.answer(MANIFEST, redirect(`${other.origin}/manifest`));
    assertEquals((await install()).verdict, "E_FETCH_STATUS policy");
    registry.answer(
      MANIFEST,
      () => new Response("", { status: 401, headers: { "www-authenticate": `Bearer realm="${other.origin}/token"` } }),
    );
    other.answer("/token", redirect(`${other.origin}/elsewhere`));
    assertEquals((await install()).verdict, "E_FETCH_STATUS policy");
    assertEquals(other.requests.map(({ path }) => path), ["/token"]);
  }));

Deno.test("challenges that cannot be answered, and token services that give none", () =>
  withRegistry(async ({ registry, other, install }) => {
    const challenged = (header: string | null) =>
      registry.answer(
        MANIFEST,
        () => new Response("", { status: 401, headers: header === null ? {} : { "www-authenticate": header } }),
      );
    for (const header of [null, 'Basic realm="x"', "Bearer", 'Bearer realm="/token"']) {
      challenged(header);
      assertEquals((await install()).verdict, "E_FETCH_LOGIN policy", `${header}`);
    }
    challenged(`Bearer realm="http://${other.host}/token"`);
    const plain = await install();
    assertEquals(plain.verdict, "E_FETCH_LOGIN policy");
    assertStringIncludes(plain.message, "its tokens do not come over https");
    challenged(`Bearer realm="${other.origin}/token"`);
    const answers: readonly (readonly [() => Response, string])[] = [
      [() => Response.json({}), "E_FETCH_LOGIN policy"],
      [() => new Response("no JSON"), "E_FETCH_LOGIN policy"],
      [() => Response.json({ token: "a\r\nx: y" }), "E_FETCH_LOGIN policy"],
      [() => new Response("", { status: 403 }), "E_FETCH_LOGIN policy"],
      // A token that does not help is not asked for again and again.
      [() => Response.json({ token: "useless" }), "E_FETCH_LOGIN policy"],
      [() => Response.json({ token: "x".repeat(OCI_TOKEN_ANSWER_MAX_BYTES) }), "E_FETCH_MANIFEST policy"],
    ];
    for (const [answer, verdict] of answers) {
      other.answer("/token", answer);
      assertEquals((await install()).verdict, verdict);
    }
    // An answer at its limit, one below, and one above; what is beside the token is not looked at.
    for (const extra of [-1, 0, 1]) {
      const padded = JSON.stringify({ token: "t" }).padEnd(OCI_TOKEN_ANSWER_MAX_BYTES + extra);
      other.answer("/token", () => new Response(padded));
      assertEquals((await install()).verdict, extra > 0 ? "E_FETCH_MANIFEST policy" : "E_FETCH_LOGIN policy");
    }
    const before = other.requests.length;
    other.answer("/token", () => new Response("", { status: 503 }));
    assertEquals((await install()).verdict, "E_FETCH_STATUS environment");
    assertEquals(other.requests.length - before, 1 + FETCH_RESUMES_MAX);
  }));

Deno.test("a token that has run out before the blob is asked for again", () =>
  withRegistry(async ({ registry, other, install }) => {
    const manifest = JSON.stringify(manifestOver({ digest: `sha256:${SHA256}`, size: BYTES.length }));
    const unauthorized = () =>
      new Response("", { status: 401, headers: { "www-authenticate": `Bearer realm="${other.origin}/token"` } });
    let token = 0;
    other.answer("/token", () => Response.json({ token: `t${++token}` }));
    registry.answer(
      MANIFEST,
      ({ headers }) =>
        headers.get("authorization") === "Bearer t1"
          ? new Response(manifest, { headers: { "content-type": OCI_MANIFEST_TYPE } })
          : unauthorized(),
    );
    registry.answer(
      BLOB,
      (request) => request.headers.get("authorization") === "Bearer t2" ? ranged(BYTES, request) : unauthorized(),
    );
    assertEquals((await install()).verdict, "fetched");
    assertEquals(token, 2);
  }));

Deno.test("a registry that is busy is asked again, and reached through the proxy of the environment", () =>
  withRegistry(async ({ registry, install }) => {
    const manifest = JSON.stringify(manifestOver({ digest: `sha256:${SHA256}`, size: BYTES.length }));
    registry.answer(
      MANIFEST,
      (_request, earlier) =>
        earlier < 2
          ? new Response("", { status: 429 })
          : new Response(manifest, { headers: { "content-type": OCI_MANIFEST_TYPE } }),
    );
    const before = (["HTTPS_PROXY", "NO_PROXY"] as const).map((name) => [name, Deno.env.get(name)] as const);
    await using proxy = forwardingProxy();
    Deno.env.delete("NO_PROXY");
    Deno.env.set("HTTPS_PROXY", `http://127.0.0.1:${proxy.port}`);
    try {
      assertEquals((await install()).verdict, "fetched");
      assertEquals(new Set(proxy.asked), new Set([registry.host]));
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) Deno.env.delete(name);
        else Deno.env.set(name, value);
      }
    }
  }));
