/** What fleetctl makes of registries that behave in other ways than docker-registry does. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { sha256Hex } from "../../contracts/digest.ts";
import { PUSH_PIECE_BYTES, PUSH_PIECE_MAX_BYTES, PUSH_STARTS_MAX } from "../../contracts/limits.ts";
import { withArtifactWorld } from "./artifact_world.ts";
import { type FleetctlRun, programBytes, runArtifactCommand } from "./registry_world.ts";

const BYTES = programBytes(PUSH_PIECE_BYTES + 1, "x86_64");

/** An open registry that keeps one repository in memory; its answers can be replaced. */
interface PushRegistry {
  readonly host: string;
  /** Sizes of the pieces that came. */
  readonly pieces: number[];
  /** Headers of the answer to the begin of an upload. */
  readonly begin: Record<string, string>;
  /** Answers a request instead of the registry. */
  override: (request: Request, url: URL) => Response | undefined;
}

interface PushWorld {
  readonly registry: PushRegistry;
  push(): Promise<FleetctlRun>;
}

function withRegistry(test: (world: PushWorld) => Promise<void>): Promise<void> {
  return withArtifactWorld(async ({ directory, authority, caFile }) => {
    const stored = new Map<string, Uint8Array<ArrayBuffer>>();
    let upload: Uint8Array<ArrayBuffer>[] = [];
    const answer = async (request: Request, url: URL, body: Uint8Array<ArrayBuffer>): Promise<Response> => {
      const name = url.pathname.split("/").at(-1) ?? "";
      const location = "/v2/agent/blobs/uploads/1?state=x";
      switch (request.method) {
        case "POST":
          upload = [];
          return new Response(null, { status: 202, headers: { location, ...registry.begin } });
        case "PATCH":
          upload.push(body);
          registry.pieces.push(body.length);
          return new Response(null, { status: 202, headers: { location } });
        case "PUT": {
          const digest = url.searchParams.get("digest") ?? name;
          if (digest.startsWith("sha256:") || digest === "tag") {
            const whole = new Uint8Array(await new Blob([...upload, body]).arrayBuffer());
            upload = [];
            if (digest !== "tag" && `sha256:${sha256Hex(whole)}` !== digest) return new Response(null, { status: 400 });
            stored.set(digest, whole);
          }
          return new Response(null, { status: 201 });
        }
        default: {
          const bytes = stored.get(name);
          return bytes === undefined ? new Response(null, { status: 404 }) : new Response(bytes);
        }
      }
    };
    const certificate = await authority.issue();
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, ...certificate, onListen: () => {} },
      async (request) => {
        const url = new URL(request.url);
        const body = await request.bytes();
        return registry.override(request, url) ?? await answer(request, url, body);
      },
    );
    const registry: PushRegistry = {
      host: `localhost:${server.addr.port}`,
      pieces: [],
      begin: {},
      override: () => undefined,
    };
    const file = `${directory}/agent`;
    await Deno.writeFile(file, BYTES);
    const push = () =>
      runArtifactCommand(
        ["artifact", "push", file, `oci://${registry.host}/agent:tag`, "--agent-version", "2.0.0"],
        { FLEETCTL_REGISTRY_CA_FILE: caFile },
      );
    try {
      await test({ registry, push });
    } finally {
      await server.shutdown();
    }
  });
}

Deno.test("an upload goes in pieces, or in the larger ones that the registry asks for", () =>
  withRegistry(async ({ registry, push }) => {
    const first = await push();
    assertEquals([first.code, registry.pieces], [0, [PUSH_PIECE_BYTES, 1]], first.err);
    const again = await push();
    assertEquals([again.code, registry.pieces.length], [0, 2]);
    assertStringIncludes(again.out, "were there");
  }));

Deno.test("the piece that a registry asks for has a limit", async () => {
  for (const extra of [-1, 0, 1]) {
    await withRegistry(async ({ registry, push }) => {
      registry.begin["oci-chunk-min-length"] = `${PUSH_PIECE_MAX_BYTES + extra}`;
      const { code, err } = await push();
      assertEquals([code, registry.pieces], extra > 0 ? [8, []] : [0, [BYTES.length]], err);
      if (extra > 0) assertStringIncludes(err, `it takes no pieces below ${PUSH_PIECE_MAX_BYTES + 1} bytes`);
    });
  }
});

Deno.test("an upload that fails again and again is begun a bounded number of times", () =>
  withRegistry(async ({ registry, push }) => {
    let begun = 0;
    registry.override = ({ method }) => {
      if (method === "POST") begun++;
      return method === "PATCH" ? new Response(null, { status: 503 }) : undefined;
    };
    const { code, err } = await push();
    assertEquals([code, begun], [5, PUSH_STARTS_MAX], err);
    assertStringIncludes(err, "Cannot push to oci://");
  }));

Deno.test("an upload that leads to another host takes no login there", () =>
  withRegistry(async ({ registry, push }) => {
    registry.override = ({ method }) =>
      method === "POST"
        ? new Response(null, { status: 202, headers: { location: "https://elsewhere.example/upload" } })
        : undefined;
    const { code, err } = await push();
    assertEquals(code, 8);
    assertStringIncludes(err, `its upload leads from https://${registry.host} to https://elsewhere.example`);
  }));

Deno.test("a registry's refusal is told by its code and none of its words", () =>
  withRegistry(async ({ registry, push }) => {
    const errors = [{ code: "DENIED", message: "\u001b[31mwords\u001b[0m" }];
    for (const [status, exitCode] of [[405, 8], [403, 6], [413, 8]] as const) {
      registry.override = ({ method }) => method === "POST" ? Response.json({ errors }, { status }) : undefined;
      const { code, err } = await push();
      assertEquals(code, exitCode, err);
      assertStringIncludes(err, "(DENIED)");
      assertEquals(err.includes("words"), false);
    }
  }));

Deno.test("a tag that somebody else moves meanwhile is noticed", () =>
  withRegistry(async ({ registry, push }) => {
    let written = false;
    registry.override = ({ method }, url) => {
      if (!url.pathname.endsWith("/manifests/tag")) return undefined;
      if (method === "PUT") written = true;
      if (method !== "GET" || !written) return undefined;
      const mediaType = "application/vnd.oci.image.index.v1+json";
      return Response.json({ schemaVersion: 2, mediaType, manifests: [] }, { headers: { "content-type": mediaType } });
    };
    const { code, err } = await push();
    assertEquals(code, 8);
    assertStringIncludes(err, "somebody else pushes to the same tag");
  }));
