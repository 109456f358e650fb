/**
 * A registry of images, as far as a pull needs one, over plain HTTP on a free port.
 *
 * @module
 */
import { canonicalJson } from "../../contracts/canonical_json.ts";
import { sha256Hex } from "../../contracts/digest.ts";

const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";

/** A registry of images. */
export class ImageRegistry {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #manifests = new Map<string, Uint8Array>();
  readonly #blobs = new Map<string, Uint8Array>();
  /** Requests so far, as `GET /v2/…`. */
  readonly requests: string[] = [];
  /** When set, blobs wait until it resolves. */
  hold: Promise<void> | null = null;

  constructor() {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#answer(request),
    );
  }

  /** Host and port. */
  get host(): string {
    return `127.0.0.1:${this.#server.addr.port}`;
  }

  /**
   * Puts an image in.
   *
   * @param name Its path, without registry and tag
   * @param layer An uncompressed tar
   * @param damaged Whether its content is lost
   * @returns its reference with the tag `1`
   */
  add(name: string, layer: Uint8Array, damaged = false): string {
    const config = encode({
      architecture: Deno.build.arch === "aarch64" ? "arm64" : "amd64",
      os: "linux",
      config: { Cmd: ["/bin/sh"] },
      rootfs: { type: "layers", diff_ids: [`sha256:${sha256Hex(layer)}`] },
    });
    const manifest = encode({
      schemaVersion: 2,
      mediaType: MANIFEST_TYPE,
      config: descriptor("application/vnd.oci.image.config.v1+json", config),
      layers: [descriptor("application/vnd.oci.image.layer.v1.tar", layer)],
    });
    this.#blobs.set(`sha256:${sha256Hex(config)}`, config);
    if (!damaged) this.#blobs.set(`sha256:${sha256Hex(layer)}`, layer);
    for (const tag of ["1", `sha256:${sha256Hex(manifest)}`]) this.#manifests.set(`${name}/${tag}`, manifest);
    return `${this.host}/${name}:1`;
  }

  /** Ends it. */
  async close(): Promise<void> {
    await this.#server.shutdown();
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    this.requests.push(`${request.method} ${pathname}`);
    if (pathname === "/v2/") return new Response("{}");
    const [, name = "", kind, reference = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(pathname) ?? [];
    if (kind === "blobs") await this.hold;
    const found = kind === "manifests" ? this.#manifests.get(`${name}/${reference}`) : this.#blobs.get(reference);
    if (found === undefined) {
      const code = kind === "manifests" ? "MANIFEST_UNKNOWN" : "BLOB_UNKNOWN";
      return Response.json({ errors: [{ code, message: "not here" }] }, { status: 404 });
    }
    const headers = {
      "content-type": kind === "manifests" ? MANIFEST_TYPE : "application/octet-stream",
      "content-length": String(found.byteLength),
      "docker-content-digest": `sha256:${sha256Hex(found)}`,
    };
    return new Response(request.method === "HEAD" ? null : found.slice(), { headers });
  }
}

function encode(document: unknown): Uint8Array {
  return new TextEncoder().encode(canonicalJson(document));
}

function descriptor(mediaType: string, bytes: Uint8Array): Record<string, unknown> {
  return { mediaType, digest: `sha256:${sha256Hex(bytes)}`, size: bytes.byteLength };
}
