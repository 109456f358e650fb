import { assertEquals, assertStringIncludes } from "@std/assert";
import { BUCKETS, deviceKey, systemUpgradeKey } from "../../contracts/buckets.ts";
import { decodeBytes } from "../../contracts/codec.ts";
import { SYSTEM_STATUS_MAX_BYTES } from "../../contracts/limits.ts";
import { systemUpgradeStatus } from "../../contracts/system_upgrade.ts";
import { Fleet } from "../fleet/fleet.ts";
import { waitUntil } from "../nats/wait_until.ts";
import { sampleSystemAttempt } from "../fakes/ledger_samples.ts";

Deno.test("a device without root and systemd tells no capability, and answers an intent all the same, with its own rights", async () => {
  await using fleet = await Fleet.start({ deviceIds: ["device-1"] });
  await fleet.ready();
  const info = await (await fleet.bus.bucket(BUCKETS.deviceInfo)).get(deviceKey("device-1"));
  assertEquals(new TextDecoder().decode(info?.value).includes("AptFullUpgradeV1"), false);
  const nowMs = Date.now();
  const attempt = sampleSystemAttempt({
    attemptId: crypto.randomUUID(),
    createdAt: new Date(nowMs).toISOString(),
    expiresAt: new Date(nowMs + 3_600_000).toISOString(),
  });
  const key = systemUpgradeKey("device-1", attempt.runId);
  const intents = await fleet.bus.bucket(BUCKETS.systemUpgradeIntent);
  await intents.put(key, new TextEncoder().encode(JSON.stringify(attempt)));
  const statuses = await fleet.bus.bucket(BUCKETS.systemUpgradeStatus);
  const entry = await waitUntil("the answer", () => statuses.get(key), 30_000);
  const status = decodeBytes(systemUpgradeStatus, entry.value, SYSTEM_STATUS_MAX_BYTES);
  assertEquals([status.phase, status.reason, status.attemptId], ["failed", "UnsupportedOperation", attempt.attemptId]);
  assertStringIncludes(status.error ?? "", "cannot upgrade the system");
});
