/**
 * Credentials, read again for each connection.
 *
 * @module
 */
import {
  type Auth,
  type Authenticator,
  jwtAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from "@nats-io/nats-core/internal";
import { errorText } from "../../contracts/errors.ts";
import { SECRET_FILE_MAX_BYTES } from "../../contracts/limits.ts";
import type { BusAuth, Secret } from "./bus_options.ts";
import { BusConnectError } from "./connect_error.ts";

/** One block of a credentials file: a dashed line, the text, a dashed line. The first is the JWT, the second the seed. */
const CREDENTIALS_BLOCK_REGEXP = /-{3,}[^\n]*-{3,}\s*\n\s*(\S+)\s*\n\s*-{3,}[^\n]*-{3,}/g;

/**
 * Makes the library's authenticator. It reads the secret's file for each login. It never throws, because the library
 * gives a connection up for good when one does: a file that cannot be read leaves the last credentials in use.
 *
 * @param auth Who the program says it is
 * @throws {BusConnectError} step `nats`, `E_BUS_AUTH`, when the secret cannot be read now
 */
export function createAuthenticator(auth: BusAuth): Authenticator {
  let last = readAuthenticator(auth);
  return (nonce) => {
    try {
      last = readAuthenticator(auth);
      return last(nonce);
    } catch {
      return answer(last, nonce);
    }
  };
}

function answer(authenticator: Authenticator, nonce: string | undefined): Auth {
  try {
    return authenticator(nonce);
  } catch {
    return undefined as unknown as Auth;
  }
}

function readAuthenticator(auth: BusAuth): Authenticator {
  switch (auth.kind) {
    case "none":
      return () => ({} as Auth);
    case "password":
      return usernamePasswordAuthenticator(auth.user, readSecret(auth.password));
    case "token":
      return tokenAuthenticator(readSecret(auth.token));
    case "credentials": {
      const blocks = readSecret(auth.credentials).matchAll(CREDENTIALS_BLOCK_REGEXP);
      const [jwt, seed] = Array.from(blocks, ([, text]) => text);
      if (jwt === undefined || seed === undefined) {
        throw new BusConnectError("nats", "Cannot use NATS credentials: want a user JWT and an nkey seed", {
          code: "E_BUS_AUTH",
        });
      }
      return jwtAuthenticator(jwt, new TextEncoder().encode(seed));
    }
  }
}

function readSecret(secret: Secret): string {
  if ("value" in secret) return secret.value;
  try {
    const { size } = Deno.statSync(secret.file);
    if (size > SECRET_FILE_MAX_BYTES) throw new Error(`${size} bytes, want at most ${SECRET_FILE_MAX_BYTES}`);
    // One line end is how editors end a file, never a part of a secret.
    return Deno.readTextFileSync(secret.file).replace(/\r?\n$/, "");
  } catch (cause) {
    throw new BusConnectError("nats", `Cannot read NATS credentials ${secret.file}: ${errorText(cause)}`, {
      code: "E_BUS_AUTH",
      cause,
    });
  }
}
