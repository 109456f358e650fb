import { assertEquals } from "@std/assert";
import { type Delivery, deliveryStart, parseDelivery } from "./delivery.ts";

const EXPECTED = { streamSequence: 42, consumerSequence: 7, storedAtMs: 1_796_012_282_157, pending: 12 };

/** As a reader does it. */
function parse(reply: string, consumer: string): Delivery | null {
  return parseDelivery(reply, deliveryStart(reply, consumer));
}

Deno.test({
  name: "parseDelivery() reads the short and the long form",
  permissions: "none",
  fn() {
    assertEquals(parse("$JS.ACK.KV_x.device-1_ab.1.42.7.1796012282157338659.12", "device-1_ab"), EXPECTED);
    const long = "$JS.ACK.hub.ACCHASH.KV_x.device-1_ab.1.42.7.1796012282157338659.12";
    assertEquals(parse(long, "device-1_ab"), EXPECTED);
    assertEquals(parse(`${long}.token`, "device-1_ab"), EXPECTED);
    assertEquals(parse(`${long}.token.of.a.newer.server`, "device-1_ab"), EXPECTED);
    assertEquals(parse("$JS.ACK.s.c.1.1.1.1796012282157000000.0", "c")?.storedAtMs, 1_796_012_282_157);
  },
});

Deno.test({
  name: "parseDelivery() takes numbers up to the largest exact one of 15 digits, and nothing else for one",
  permissions: "none",
  fn() {
    const largest = "9".repeat(15);
    assertEquals(parse(`$JS.ACK.s.c.1.${largest}.1.1796012282157000000.0`, "c")?.streamSequence, Number(largest));
    assertEquals(parse(`$JS.ACK.s.c.1.${largest.slice(1)}.1.1796012282157000000.0`, "c")?.consumerSequence, 1);
    for (
      const reply of [
        "",
        "_INBOX.x",
        "$JS.FC.s.c.1.1.1.1796012282157000000.0",
        "$JS.ACK.s.c.1.1.1.1796012282157000000",
        `$JS.ACK.s.c.1.${largest}9.1.1796012282157000000.0`,
        "$JS.ACK.s.c.1.x.1.1796012282157000000.0",
        "$JS.ACK.s.c.1.1.-1.1796012282157000000.0",
        "$JS.ACK.s.c.1.1.1.17960x2282157000000.0",
        "$JS.ACK.s.c.1.1.1.123456.0",
        "$JS.ACK.s.c.1.1.1.1796012282157000000.",
        "$JS.ACK.s.c.1..1.1796012282157000000.0",
        "$JS.ACK.s.other.1.1.1.1796012282157000000.0",
        "$JS.ACK.s.c",
      ]
    ) assertEquals(parse(reply, "c"), null, reply);
  },
});
