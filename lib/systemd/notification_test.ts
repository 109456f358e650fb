import { assert, assertEquals, assertThrows } from "@std/assert";
import { isFleetError } from "../../contracts/errors.ts";
import { NOTIFY_MESSAGE_MAX_BYTES, STATUS_TEXT_MAX_CHARS } from "../../contracts/limits.ts";
import { decodeNotification, encodeNotification, type Notification } from "./notification.ts";
import { notifySocketPath } from "./notify_address.ts";

const ENCODER = new TextEncoder();

Deno.test("a notification has the lines of sd_notify(3)", () => {
  const bytes = encodeNotification({ ready: true, stopping: true, watchdog: true, status: "up", mainPid: 42 });
  assertEquals(new TextDecoder().decode(bytes), "MAINPID=42\nREADY=1\nSTOPPING=1\nSTATUS=up\nWATCHDOG=1\n");
});

for (
  const notification of [
    { ready: true },
    { status: "größer = besser", mainPid: 1 },
    { stopping: true, watchdog: true },
    { status: "" },
  ] satisfies Notification[]
) {
  Deno.test(`${JSON.stringify(notification)} decodes to itself`, () => {
    assertEquals(decodeNotification(encodeNotification(notification)), notification);
  });
}

Deno.test("a status cannot forge another line", () => {
  const bytes = encodeNotification({ status: "waiting\nREADY=1\r\0x" });
  assertEquals(decodeNotification(bytes), { status: "waiting READY=1 x" });
});

for (const chars of [STATUS_TEXT_MAX_CHARS - 1, STATUS_TEXT_MAX_CHARS, STATUS_TEXT_MAX_CHARS + 1]) {
  Deno.test(`a status of ${chars} characters is cut to at most ${STATUS_TEXT_MAX_CHARS}`, () => {
    const kept = Math.min(chars, STATUS_TEXT_MAX_CHARS);
    const encoded = encodeNotification({ status: "\u4e16".repeat(chars) });
    assert(encoded.byteLength < NOTIFY_MESSAGE_MAX_BYTES);
    assertEquals(decodeNotification(encoded)?.status?.length, kept);
    assertEquals(decodeNotification(ENCODER.encode(`STATUS=${"x".repeat(chars)}`))?.status?.length, kept);
  });
}

for (const [excess, read] of [[-1, true], [0, true], [1, false]] as const) {
  Deno.test(`a datagram of the byte limit ${excess < 0 ? excess : `+${excess}`} is ${read ? "read" : "ignored"}`, () => {
    const bytes = ENCODER.encode("READY=1\n".padEnd(NOTIFY_MESSAGE_MAX_BYTES + excess, "x"));
    assertEquals(decodeNotification(bytes), read ? { ready: true } : null);
  });
}

Deno.test("what is not understood is ignored", () => {
  const understood = (source: string) => decodeNotification(ENCODER.encode(source));
  assertEquals(understood(""), null);
  assertEquals(understood("FDSTORE=1\nnonsense\n=\nREADY=0\nREADY\nSTOPPING=yes\nWATCHDOG=trigger"), null);
  assertEquals(understood("EXTEND_TIMEOUT_USEC=5\nREADY=1"), { ready: true });
  for (const pid of ["0", "-1", "1.5", "99999999999", "x", ""]) assertEquals(understood(`MAINPID=${pid}`), null);
  assertEquals(decodeNotification(new Uint8Array([0xff, 0xfe])), null);
});

Deno.test("a notification address is an absolute path or an abstract name", () => {
  assertEquals(notifySocketPath("/run/x"), "/run/x");
  assertEquals(notifySocketPath("@x/y"), "\0x/y");
  for (const address of ["", "@", "relative", "vsock:2:1"]) {
    assert(isFleetError(assertThrows(() => notifySocketPath(address)), "E_NOTIFY_ADDRESS"));
  }
});
