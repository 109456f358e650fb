import { assert, assertEquals, assertMatch } from "@std/assert";
import { waitUntil } from "../../tests/nats/wait_until.ts";
import type { DeviceRow } from "./device_news.ts";
import { PlainScreen } from "./plain_screen.ts";

const ROW: DeviceRow = { device: "device-1", agent: "1.0.0", phase: "stopping", happens: "it stops", tone: "busy" };

Deno.test("plain lines: one for each change, parts apart by one empty line, no controls", () => {
  let told = "";
  const screen = new PlainScreen((text) => told += text);
  screen.heading("1. A chapter");
  screen.say("Some prose.");
  screen.command("cd manifests");
  screen.command("fleetctl get devices");
  screen.output("NAME\n\ndevice-1\n\n");
  screen.devices([ROW], []);
  screen.devices([ROW], [{ row: ROW, atMs: performance.now() }]);
  screen.lines("  ok     it is\n");
  screen.say("More prose.");
  screen.close();
  assertEquals(told.replace(/^ {4}[0-9]\.[0-9] s/m, "    0.0 s").split("\n"), [
    "1. A chapter",
    "",
    "  Some prose.",
    "",
    "  $ cd manifests",
    "  $ fleetctl get devices",
    "    NAME",
    "",
    "    device-1",
    "",
    "    0.0 s  device-1  1.0.0  stopping      it stops",
    "  ok     it is",
    "",
    "  More prose.",
    "",
    "",
  ]);
});

Deno.test("plain lines: a wait is told of when it is long, and only then", async () => {
  let told = "";
  const screen = new PlainScreen((text) => told += text);
  try {
    screen.activity("waiting: device-1");
    screen.activity(null);
    screen.activity("waiting: device-2");
    await waitUntil("a line", () => told !== "");
  } finally {
    screen.close();
  }
  assertMatch(told, /^ {2}\.\.\. waiting: device-2 \(2\.[0-9] s\)\n$/);
  assert(!told.includes("\u001b"));
});
