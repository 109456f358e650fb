import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { TerminalEmulator } from "../../tests/fakes/terminal_emulator.ts";
import { waitUntil } from "../../tests/nats/wait_until.ts";
import type { DeviceRow } from "./device_news.ts";
import { LiveScreen } from "./live_screen.ts";

function row(id: number, phase: string, happens: string): DeviceRow {
  return { device: `device-${id}`, agent: "1.0.0", phase, happens, tone: "busy" };
}

function onTerminal(columns: number, rows: number, use: (screen: LiveScreen, terminal: TerminalEmulator) => void) {
  const terminal = new TerminalEmulator(columns, rows);
  const screen = new LiveScreen((text) => terminal.write(text), () => columns);
  try {
    use(screen, terminal);
  } finally {
    screen.close();
  }
  assertEquals(terminal.unknown, []);
}

Deno.test("the table is redrawn in place, below the story", () => {
  onTerminal(80, 24, (screen, terminal) => {
    screen.heading("1. A chapter");
    screen.devices([row(1, "preparing", "a"), row(2, "-", "b")]);
    screen.say("Some prose.");
    screen.devices([row(1, "complete", "c"), row(2, "preparing", "d")]);
    screen.activity("waiting: device-2");
    assertEquals(
      terminal.text,
      [
        "1. A chapter",
        "",
        "  Some prose.",
        "",
        "",
        "  DEVICE    AGENT  PHASE            WHAT HAPPENS",
        "  device-1  1.0.0  complete         c",
        "  device-2  1.0.0  preparing        d",
        "  ... waiting: device-2",
      ].join("\n"),
    );
  });
});

Deno.test("one table is left however much has scrolled by, and the story is whole", () => {
  onTerminal(60, 12, (screen, terminal) => {
    const story: string[] = [];
    for (let step = 1; step <= 40; step++) {
      screen.devices([row(1, "preparing", `step ${step}`), row(2, "-", "")]);
      screen.lines(`  ok     step ${step}\n`, "good");
      story.push(`  ok     step ${step}`);
    }
    const told = terminal.text.split("\n");
    assertEquals(told.slice(0, 40), story);
    assertEquals(told.filter((line) => line.includes("DEVICE")).length, 1);
    assertEquals(told.at(-2), "  device-1  1.0.0  preparing        step 40");
  });
});

Deno.test("no line of the table is longer than the terminal, whatever happens", () => {
  onTerminal(60, 16, (screen, terminal) => {
    screen.devices([row(1, "rolling-back", "x".repeat(200))]);
    screen.activity("y".repeat(200));
    screen.lines("  ok\n");
    const told = terminal.text.split("\n");
    assertEquals(told.length, 5);
    assert(told.every((line) => line.length <= 60), terminal.text);
    assertStringIncludes(told[3] ?? "", "…");
  });
});

Deno.test("a long wait shows how long it has been", async () => {
  const terminal = new TerminalEmulator(60, 16);
  const screen = new LiveScreen((text) => terminal.write(text), () => 60);
  try {
    screen.activity("waiting: device-1");
    await waitUntil("the time of the wait", () => /waiting: device-1 \([23]\.[0-9] s\)/.test(terminal.text));
  } finally {
    screen.close();
  }
  assertEquals(terminal.text.trim(), "");
});
