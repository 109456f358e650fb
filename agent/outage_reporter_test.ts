import { assertEquals } from "@std/assert";
import { OUTAGE_ERRORS_TOLD_MAX } from "../contracts/limits.ts";
import { createLogger } from "../lib/log.ts";
import { OutageReporter } from "./outage_reporter.ts";

function reporter() {
  const lines: string[] = [];
  const said: string[] = [];
  const log = createLogger({ sink: (line) => lines.push(JSON.parse(line).message), format: "json" });
  return { lines, said, reporter: new OutageReporter(log, (text) => said.push(text)) };
}

Deno.test("OutageReporter tells an outage of any length in a few lines", () => {
  const { lines, said, reporter: outage } = reporter();
  for (let tries = 0; tries < 1_000; tries++) {
    outage.onStatus({ kind: "disconnected" });
    outage.onStatus({ kind: "reconnecting" });
    outage.onStatus({ kind: "error", message: "connection refused" });
    outage.onStatus({ kind: "auth-error", message: "Authorization Violation" });
  }
  outage.onStatus({ kind: "connected", server: "s" });
  assertEquals(lines, ["NATS is away", "NATS reports an error", "NATS refuses the login", "NATS is connected"]);
  assertEquals(said, ["NATS is away, workloads go on", "connected to NATS"]);
  outage.onStatus({ kind: "disconnected" });
  assertEquals(lines.at(-1), "NATS is away");
});

Deno.test("OutageReporter tells an error of a connection that stands once", () => {
  const { lines, reporter: outage } = reporter();
  for (let tries = 0; tries < 100; tries++) outage.onStatus({ kind: "error", message: "permissions violation" });
  assertEquals(lines, ["NATS reports an error"]);
});

for (const extra of [-1, 0, 1]) {
  const errors = OUTAGE_ERRORS_TOLD_MAX + extra;
  Deno.test(`OutageReporter with ${errors} different errors tells at most ${OUTAGE_ERRORS_TOLD_MAX}`, () => {
    const { lines, reporter: outage } = reporter();
    outage.onStatus({ kind: "disconnected" });
    for (let server = 0; server < errors; server++) outage.onStatus({ kind: "error", message: `server ${server}` });
    assertEquals(lines.length, 1 + Math.min(errors, OUTAGE_ERRORS_TOLD_MAX));
  });
}
