/**
 * Users and groups by name, from the text of `/etc/passwd` and `/etc/group`: the runtime has no call for it.
 *
 * @module
 */
import { FleetError } from "../contracts/errors.ts";

/** Numeric ids of an account. */
export interface AccountIds {
  readonly uid: number;
  readonly gid: number;
}

function fieldsOf(table: string, name: string): string[] | undefined {
  return table.split("\n").map((line) => line.split(":")).find(([first]) => first === name);
}

function idOf(value: string | undefined): number | undefined {
  return value !== undefined && /^[0-9]{1,10}$/.test(value) ? Number(value) : undefined;
}

/**
 * Ids of a user.
 *
 * @param passwd Text of `/etc/passwd`
 * @param name The user
 * @throws {FleetError} `E_NO_ACCOUNT` when there is none
 */
export function userIds(passwd: string, name: string): AccountIds {
  const fields = fieldsOf(passwd, name);
  const uid = idOf(fields?.[2]);
  const gid = idOf(fields?.[3]);
  if (uid === undefined || gid === undefined) throw unknownAccount("user", name);
  return { uid, gid };
}

/**
 * Id of a group.
 *
 * @param group Text of `/etc/group`
 * @param name The group
 * @throws {FleetError} `E_NO_ACCOUNT` when there is none
 */
export function groupId(group: string, name: string): number {
  const gid = idOf(fieldsOf(group, name)?.[2]);
  if (gid === undefined) throw unknownAccount("group", name);
  return gid;
}

function unknownAccount(what: string, name: string): FleetError {
  return new FleetError(`Cannot find the ${what} ${name}: run device setup, or correct updater.json`, {
    code: "E_NO_ACCOUNT",
    failureClass: "environment",
  });
}
