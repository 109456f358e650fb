/**
 * Reads the file into which `docker login` and `podman login` write. Pure.
 *
 * @module
 */
import { FleetError } from "../../../contracts/errors.ts";
import type { RegistryLogin } from "../../../lib/oci/registry_session.ts";

function usage(file: string, problem: string): FleetError {
  return new FleetError(`Cannot use ${file}: ${problem}`, { code: "E_USAGE" });
}

/**
 * The login of a registry; undefined when the file has none for it.
 *
 * @param text Content of the file
 * @param host The registry, with a port if the reference has one
 * @param file Its name, for messages
 * @throws {FleetError} `E_USAGE` when it cannot be used; its message holds no secret
 */
export function loginOf(text: string, host: string, file: string): RegistryLogin | undefined {
  let auths: unknown;
  try {
    auths = (JSON.parse(text) as { auths?: unknown } | null)?.auths;
  } catch {
    throw usage(file, "it is no JSON");
  }
  if (typeof auths !== "object" || auths === null || !Object.hasOwn(auths, host)) return undefined;
  const { auth } = (auths as Record<string, { auth?: unknown } | null>)[host] ?? {};
  if (typeof auth !== "string") throw usage(file, `its login for ${host} is kept by a helper program`);
  let pair: string;
  try {
    pair = new TextDecoder().decode(Uint8Array.from(atob(auth), (character) => character.charCodeAt(0)));
  } catch {
    throw usage(file, `its login for ${host} is no base64`);
  }
  const colon = pair.indexOf(":");
  if (colon < 1) throw usage(file, `its login for ${host} has no user`);
  return { user: pair.slice(0, colon), password: pair.slice(colon + 1) };
}
