/**
 * Earliest expiry among the credentials and certificates that the agent's configuration names, so that an expiry is seen
 * weeks before it takes a device away (DESIGN 6, Heartbeat).
 *
 * @module
 */
import { X509Certificate } from "node:crypto";
import { CA_BUNDLE_MAX_BYTES, SECRET_FILE_MAX_BYTES } from "../contracts/limits.ts";
import { readGuardedFile } from "../lib/config/read_guarded_file.ts";
import type { AgentConfig } from "./config.ts";

const CERTIFICATE_REGEXP = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
const JWT_REGEXP = /[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+/;

/**
 * Earliest end of validity of the certificates in a text, in ms since the epoch; null when it has none.
 *
 * @param pem PEM; what is no certificate is passed over
 */
export function certificatesExpireMs(pem: string): number | null {
  const ends = (pem.match(CERTIFICATE_REGEXP) ?? []).flatMap((block) => {
    try {
      return [new X509Certificate(block).validToDate.getTime()];
    } catch {
      return [];
    }
  });
  return ends.length === 0 ? null : Math.min(...ends);
}

/**
 * Expiry of the first JWT in a text, in ms since the epoch; null when it has none or the JWT does not expire.
 *
 * @param text A token or a credentials file
 */
export function tokenExpiresMs(text: string): number | null {
  const payload = JWT_REGEXP.exec(text)?.[1];
  if (payload === undefined) return null;
  try {
    const base64 = payload.replaceAll("-", "+").replaceAll("_", "/");
    const claims: unknown = JSON.parse(atob(base64));
    if (typeof claims !== "object" || claims === null || !("exp" in claims)) return null;
    const { exp } = claims;
    return typeof exp === "number" && Number.isFinite(exp) && exp > 0 ? exp * 1_000 : null;
  } catch {
    return null;
  }
}

async function expiryOf(
  path: string | undefined,
  maxBytes: number,
  read: (text: string) => number | null,
): Promise<number[]> {
  if (path === undefined) return [];
  try {
    const bytes = await readGuardedFile(path, { what: "the file", maxBytes, forbiddenMode: 0 });
    const endMs = read(new TextDecoder().decode(bytes));
    return endMs === null ? [] : [endMs];
  } catch {
    // The connection says what is wrong with a file that it cannot use.
    return [];
  }
}

/**
 * Earliest expiry of what the configuration names, as an instant; undefined when nothing of it expires.
 *
 * @param config Where certificates and credentials stand
 */
export async function credentialsExpireAt({ nats }: Pick<AgentConfig, "nats">): Promise<string | undefined> {
  const ends = [
    ...await expiryOf(nats.caFile, CA_BUNDLE_MAX_BYTES, certificatesExpireMs),
    ...await expiryOf(nats.tokenFile, SECRET_FILE_MAX_BYTES, tokenExpiresMs),
    ...await expiryOf(nats.credentialsFile, SECRET_FILE_MAX_BYTES, tokenExpiresMs),
  ];
  const endMs = Math.min(...ends);
  // Years above 9999 have another spelling, and nobody waits for them.
  return Number.isFinite(endMs) && endMs < 253_402_300_800_000 ? new Date(endMs).toISOString() : undefined;
}
