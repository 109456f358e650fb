/**
 * A token service as registries use it: everybody may pull from public repositories, a user may push too.
 *
 * @module
 */
import type { ServerCertificate } from "../../tls/test_authority.ts";

/** What it is started with. */
export interface TokenServiceOptions {
  /** Of its own server, and of the key that signs tokens. */
  readonly certificate: ServerCertificate;
  readonly signer: ServerCertificate;
  readonly service: string;
  readonly user: string;
  readonly password: string;
  /** Lifetime of tokens, in s. Default 300 */
  readonly lifetimeS?: number;
}

/** A running service. */
export interface TokenService extends AsyncDisposable {
  readonly realm: string;
  readonly issuer: string;
  /** Requests so far, with their `Authorization`. */
  readonly requests: { readonly url: URL; readonly authorization: string | null }[];
  /** Repositories that only the user may read. */
  readonly closed: Set<string>;
}

const encoder = new TextEncoder();

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function pemBytes(pem: string): Uint8Array<ArrayBuffer> {
  const base64 = /-----BEGIN [^-]+-----([^-]+)-----END/.exec(pem)?.[1]?.replaceAll(/\s/g, "") ?? "";
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

interface Access {
  readonly type: string;
  readonly name: string;
  readonly actions: readonly string[];
}

async function signedToken(signer: ServerCertificate, claims: Record<string, unknown>): Promise<string> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("pkcs8", pemBytes(signer.key), algorithm, false, ["sign"]);
  const header = { typ: "JWT", alg: "ES256", x5c: [btoa(String.fromCharCode(...pemBytes(signer.cert)))] };
  const text = [header, claims].map((part) => base64Url(encoder.encode(JSON.stringify(part)))).join(".");
  const signature = await crypto.subtle.sign(algorithm, key, encoder.encode(text));
  return `${text}.${base64Url(new Uint8Array(signature))}`;
}

/**
 * Starts a service on a free port of the loopback interface.
 *
 * @param options Certificates, user, password
 */
export function startTokenService(options: TokenServiceOptions): TokenService {
  const { certificate, signer, service, user, password, lifetimeS = 300 } = options;
  const issuer = "tests";
  const requests: TokenService["requests"] = [];
  const closed = new Set<string>();
  const known = `Basic ${btoa(`${user}:${password}`)}`;

  const granted = (scope: string, isUser: boolean): Access | null => {
    const [type = "", name = "", actions = ""] = scope.split(":");
    const allowed = actions.split(",").filter((action) => isUser || (action === "pull" && !closed.has(name)));
    return allowed.length === 0 ? null : { type, name, actions: allowed };
  };
  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    cert: certificate.cert,
    key: certificate.key,
    onListen: () => {},
  }, async (request) => {
    const url = new URL(request.url);
    const authorization = request.headers.get("authorization");
    requests.push({ url, authorization });
    if (authorization !== null && authorization !== known) return new Response("no", { status: 401 });
    const access = url.searchParams.getAll("scope").flatMap((scope) => granted(scope, authorization === known) ?? []);
    const now = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: issuer,
      sub: authorization === null ? "" : user,
      aud: service,
      access,
      jti: crypto.randomUUID(),
    };
    const token = await signedToken(signer, { ...claims, nbf: now - 10, iat: now, exp: now + lifetimeS });
    return Response.json({ token, expires_in: lifetimeS });
  });
  return {
    realm: `https://localhost:${server.addr.port}/token`,
    issuer,
    requests,
    closed,
    async [Symbol.asyncDispose]() {
      await server.shutdown();
    },
  };
}
