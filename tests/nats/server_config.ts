/**
 * Text of a server's configuration file.
 *
 * @module
 */
import type { SubjectPermissions } from "../../contracts/subjects.ts";

/** One user of a server. Without permissions it may do everything in its account. */
export interface ServerUser {
  readonly user: string;
  readonly password: string;
  readonly permissions?: SubjectPermissions;
}

/** Certificate that the server shows. */
export interface ServerTls {
  readonly certFile: string;
  readonly keyFile: string;
}

/**
 * The `authorization` block for a list of users. The server's format is a superset of JSON.
 *
 * @param users Who may connect
 */
export function usersConfig(users: readonly ServerUser[]): string {
  return `authorization: ${JSON.stringify({ users })}\n`;
}

/**
 * The `tls` block.
 *
 * @param tls Certificate and key
 */
export function tlsConfig(tls: ServerTls): string {
  return `tls: ${JSON.stringify({ cert_file: tls.certFile, key_file: tls.keyFile, timeout: 10 })}\n`;
}
