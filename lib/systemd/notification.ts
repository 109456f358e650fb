/**
 * The text of a notification (sd_notify(3)): `NAME=value` lines.
 *
 * @module
 */
import { bounded } from "../../contracts/formats.ts";
import { NOTIFY_MESSAGE_MAX_BYTES, STATUS_TEXT_MAX_CHARS } from "../../contracts/limits.ts";

/** What a service tells its supervisor. */
export interface Notification {
  /** The service has started. */
  readonly ready?: true;
  /** The service has begun to stop. */
  readonly stopping?: true;
  /** The service is alive. */
  readonly watchdog?: true;
  /** What it is doing, for people: one line of at most {@link STATUS_TEXT_MAX_CHARS} characters. */
  readonly status?: string;
  /** The process that speaks. */
  readonly mainPid?: number;
}

// deno-lint-ignore no-control-regex -- control characters are what it looks for
const CONTROL_REGEXP = /[\u0000-\u001f\u007f]+/g;
const PID_REGEXP = /^[1-9][0-9]{0,9}$/;

/**
 * The datagram of a notification.
 *
 * @param notification What to say; a status is cut to its bound and made one line
 */
export function encodeNotification(notification: Notification): Uint8Array {
  const { ready, stopping, watchdog, status, mainPid } = notification;
  const lines: string[] = [];
  // First, so that a receiver that reads line by line knows who speaks.
  if (mainPid !== undefined) lines.push(`MAINPID=${mainPid}`);
  if (ready === true) lines.push("READY=1");
  if (stopping === true) lines.push("STOPPING=1");
  if (status !== undefined) lines.push(`STATUS=${bounded(oneLine(status), STATUS_TEXT_MAX_CHARS)}`);
  if (watchdog === true) lines.push("WATCHDOG=1");
  return new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
}

function oneLine(text: string): string {
  return text.replaceAll(CONTROL_REGEXP, " ").trim();
}

/**
 * Reads a datagram. Lines that are not understood are ignored, as sd_notify(3) asks.
 *
 * @param bytes The datagram
 * @returns null when it is longer than {@link NOTIFY_MESSAGE_MAX_BYTES}, or says nothing that is understood
 */
export function decodeNotification(bytes: Uint8Array): Notification | null {
  if (bytes.byteLength > NOTIFY_MESSAGE_MAX_BYTES) return null;
  let notification: Notification = {};
  for (const line of new TextDecoder().decode(bytes).split("\n")) {
    const equals = line.indexOf("=");
    if (equals < 0) continue;
    const value = line.slice(equals + 1);
    switch (line.slice(0, equals)) {
      case "READY":
        if (value === "1") notification = { ...notification, ready: true };
        break;
      case "STOPPING":
        if (value === "1") notification = { ...notification, stopping: true };
        break;
      case "WATCHDOG":
        if (value === "1") notification = { ...notification, watchdog: true };
        break;
      case "STATUS":
        notification = { ...notification, status: bounded(oneLine(value), STATUS_TEXT_MAX_CHARS) };
        break;
      case "MAINPID":
        if (PID_REGEXP.test(value)) notification = { ...notification, mainPid: Number(value) };
        break;
    }
  }
  return Object.keys(notification).length === 0 ? null : notification;
}
