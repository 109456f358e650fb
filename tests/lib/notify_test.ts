import { assert, assertEquals, assertFalse, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { isFleetError } from "../../contracts/errors.ts";
import { NOTIFY_MESSAGE_MAX_BYTES, NOTIFY_SEND_TIMEOUT_MS } from "../../contracts/limits.ts";
import { withDeadline } from "../../lib/deadline.ts";
import { decodeNotification, type Notification } from "../../lib/systemd/notification.ts";
import { createNotifier, notifierFromEnvironment } from "../../lib/systemd/notify.ts";
import { openDatagram, type UnixDatagram } from "../../lib/systemd/notify_address.ts";
import { listenNotifications, type NotifyReceiver } from "../../lib/systemd/notify_receiver.ts";
import { FakeClock, settle } from "../fakes/fake_clock.ts";

const WAIT_MS = 10_000;

async function withDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "notify-" });
  try {
    await run(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function take(receiver: NotifyReceiver, count: number): Promise<Notification[]> {
  const messages: Notification[] = [];
  await withDeadline(WAIT_MS, "receive notifications", async () => {
    for await (const message of receiver) {
      messages.push(message);
      if (messages.length === count) return;
    }
  });
  return messages;
}

async function read(socket: UnixDatagram): Promise<Notification | null> {
  const [bytes] = await withDeadline(WAIT_MS, "receive", () => socket.receive());
  return decodeNotification(bytes);
}

function sendRaw(path: string, text: string): Promise<number> {
  const socket = openDatagram();
  return socket.send(new TextEncoder().encode(text), { transport: "unixpacket", path }).finally(() => socket.close());
}

Deno.test("a notification reaches a receiver at a path, with the sender's process id", () =>
  withDirectory(async (directory) => {
    const receiver = listenNotifications(`${directory}/notify.sock`);
    const notifier = createNotifier({ address: receiver.address });
    assert(notifier.supervised);
    await notifier.notify({ status: "connecting" });
    await notifier.notify({ ready: true, status: "up" });
    await notifier.notify({ stopping: true });
    assertEquals(await take(receiver, 3), [
      { mainPid: Deno.pid, status: "connecting" },
      { mainPid: Deno.pid, ready: true, status: "up" },
      { mainPid: Deno.pid, stopping: true },
    ]);
    notifier.close();
    receiver.close();
  }));

Deno.test("a notification reaches a receiver at an abstract name", async () => {
  const receiver = listenNotifications(`@harmony-fleet-test-${crypto.randomUUID()}`);
  const notifier = createNotifier({ address: receiver.address, mainPid: 7 });
  await notifier.notify({ ready: true });
  assertEquals(await take(receiver, 1), [{ mainPid: 7, ready: true }]);
  notifier.close();
  receiver.close();
});

Deno.test("READY is sent until a receiver is there; with it goes the newest status", () =>
  withDirectory(async (directory) => {
    const path = `${directory}/notify.sock`;
    const notifier = createNotifier({ address: path });
    let delivered = false;
    const ready = notifier.notify({ ready: true, status: "first" }).then(() => delivered = true);
    await notifier.notify({ status: "second" });
    await notifier.notify({ status: "third" });
    assertFalse(delivered);
    const receiver = listenNotifications(path);
    const [message] = await take(receiver, 1);
    assertEquals(message, { mainPid: Deno.pid, ready: true, status: "third" });
    await withDeadline(WAIT_MS, "deliver READY", () => ready);
    notifier.close();
    receiver.close();
  }));

Deno.test("an aborted READY is never sent", () =>
  withDirectory(async (directory) => {
    const path = `${directory}/notify.sock`;
    const notifier = createNotifier({ address: path });
    const controller = new AbortController();
    const ready = notifier.notify({ ready: true }, controller.signal);
    ready.catch(() => {});
    await notifier.notify({ status: "starting" });
    const reason = new Error("stopping");
    controller.abort(reason);
    assertStrictEquals(await assertRejects(() => ready), reason);
    assertStrictEquals(await assertRejects(() => notifier.notify({ ready: true }, controller.signal)), reason);
    const receiver = listenNotifications(path);
    await notifier.notify({ stopping: true });
    const [message] = await take(receiver, 1);
    assertEquals([message?.ready, message?.mainPid], [undefined, Deno.pid]);
    notifier.close();
    receiver.close();
  }));

Deno.test("best effort: nobody listening is no error", () =>
  withDirectory(async (directory) => {
    const notifier = createNotifier({ address: `${directory}/notify.sock` });
    await notifier.notify({ status: "alone", watchdog: true });
    notifier.close();
    await notifier.notify({ ready: true });
  }));

Deno.test("a supervisor that does not read holds up nobody and gets the newest status in the end", () =>
  withDirectory(async (directory) => {
    const clock = new FakeClock();
    const path = `${directory}/notify.sock`;
    const deaf = openDatagram(path);
    const notifier = createNotifier({ address: path, clock });
    const total = 100;
    for (let index = 1; index <= total; index++) {
      await clock.advanceUntil(notifier.notify({ status: `step ${index}` }), 2 * NOTIFY_SEND_TIMEOUT_MS);
    }
    const statuses: string[] = [];
    while (statuses.at(-1) !== `step ${total}`) statuses.push((await read(deaf))?.status ?? "");
    assert(statuses.length < total, `${statuses.length} of ${total} were kept`);
    await clock.advanceUntil(notifier.notify({ ready: true }), WAIT_MS);
    assertEquals(await read(deaf), { mainPid: Deno.pid, ready: true });
    notifier.close();
    deaf.close();
  }));

Deno.test("the receiver ignores garbage and datagrams over the limit", () =>
  withDirectory(async (directory) => {
    const path = `${directory}/notify.sock`;
    const receiver = listenNotifications(path);
    await sendRaw(path, "");
    await sendRaw(path, "\0\xff=");
    await sendRaw(path, "READY=1\n".padEnd(NOTIFY_MESSAGE_MAX_BYTES + 1, "x"));
    await sendRaw(path, "READY=1\n".padEnd(20 * NOTIFY_MESSAGE_MAX_BYTES, "x"));
    await sendRaw(path, "STATUS=kept\n".padEnd(NOTIFY_MESSAGE_MAX_BYTES, "x"));
    assertEquals(await take(receiver, 1), [{ status: "kept" }]);
    receiver.close();
  }));

Deno.test("the receiver replaces a stale socket, sets its mode, and leaves nothing behind", () =>
  withDirectory(async (directory) => {
    const path = `${directory}/notify.sock`;
    openDatagram(path).close();
    const receiver = listenNotifications(path, { mode: 0o660 });
    assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o660);
    const ended = take(receiver, 1);
    await settle();
    receiver.close();
    receiver.close();
    assertEquals(await ended, []);
    assertThrows(() => Deno.lstatSync(path), Deno.errors.NotFound);
  }));

Deno.test("the receiver does not remove what is no socket", () =>
  withDirectory(async (directory) => {
    const path = `${directory}/file`;
    await Deno.writeTextFile(path, "precious");
    const error = assertThrows(() => listenNotifications(path));
    assert(isFleetError(error, "E_NOTIFY_SOCKET"));
    assertEquals(await Deno.readTextFile(path), "precious");
  }));

Deno.test("without a supervisor nothing is sent, and a child does not inherit the address", () => {
  const silent = createNotifier({ address: "" });
  assertFalse(silent.supervised);
  const before = Deno.env.get("NOTIFY_SOCKET");
  try {
    Deno.env.set("NOTIFY_SOCKET", "/nowhere/notify.sock");
    const notifier = notifierFromEnvironment();
    assert(notifier.supervised);
    notifier.close();
    assertEquals(Deno.env.get("NOTIFY_SOCKET"), undefined);
  } finally {
    if (before !== undefined) Deno.env.set("NOTIFY_SOCKET", before);
  }
});
