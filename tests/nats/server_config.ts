/**
 * Text of a server's configuration file.
 *
 * @module
 */
import { deviceAccount, devicePermissions, type SubjectPermissions } from "../../contracts/device_permissions.ts";

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

/** Account of the buckets, with the programs that may use all of them. */
const FLEET_ACCOUNT = "FLEET";
/** Account of the devices. */
const DEVICES_ACCOUNT = "DEVICES";

/** Who may connect to a server with the two accounts of a fleet. */
export interface FleetUsers {
  /** Operators and people. */
  readonly programs: readonly ServerUser[];
  /** Devices; each logs in with its id as the user. */
  readonly devices: readonly { readonly deviceId: string; readonly password: string }[];
}

/**
 * The two accounts of a fleet, as `contracts/device_permissions.ts` wants them: buckets and operators in one, devices
 * in the other, each with its own permissions.
 *
 * @param users Who may connect
 */
export function fleetAccountsConfig({ programs, devices }: FleetUsers): string {
  const { services, streams, mappings } = deviceAccount();
  const links = [...services.map((service) => ({ service })), ...streams.map((stream) => ({ stream }))];
  const accounts = {
    [FLEET_ACCOUNT]: {
      jetstream: "enabled",
      users: programs,
      mappings,
      exports: links.map((link) => ({ ...link, accounts: [DEVICES_ACCOUNT] })),
    },
    [DEVICES_ACCOUNT]: {
      users: devices.map(({ deviceId, password }) => ({
        user: deviceId,
        password,
        permissions: devicePermissions(deviceId),
      })),
      imports: links.map((link) => {
        const [[kind, subject]] = Object.entries(link) as [[string, string]];
        return { [kind]: { account: FLEET_ACCOUNT, subject } };
      }),
    },
  };
  return `accounts: ${JSON.stringify(accounts)}\n`;
}

/**
 * The `tls` block.
 *
 * @param tls Certificate and key
 */
export function tlsConfig(tls: ServerTls): string {
  return `tls: ${JSON.stringify({ cert_file: tls.certFile, key_file: tls.keyFile, timeout: 10 })}\n`;
}
