import { assertEquals } from "@std/assert";
import { BUCKETS } from "./buckets.ts";
import { consumerNamePrefix, deliveryPrefix, inboxPrefix, keySubject, streamName } from "./subjects.ts";

Deno.test({
  name: "subjects of buckets, keys, inboxes and consumers",
  permissions: "none",
  fn() {
    assertEquals(keySubject(BUCKETS.upgradeIntent, "device-1"), "$KV.agent-upgrade-intent.device-1");
    assertEquals(streamName(BUCKETS.desiredState), "KV_desired-state");
    assertEquals(inboxPrefix("device-1"), "_INBOX_device-1");
    assertEquals(consumerNamePrefix("device-1"), "device-1_");
    assertEquals(deliveryPrefix("device-1"), "fleet.deliver.device-1");
  },
});
