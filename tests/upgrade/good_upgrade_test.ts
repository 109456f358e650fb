import { assert, assertEquals } from "@std/assert";
import { Fleet } from "../fleet/fleet.ts";

Deno.test("an intent upgrades a device: fetched, probed, switched, committed, and complete in NATS", async () => {
  await using fleet = await Fleet.start({ deviceIds: ["device-1"] });
  const device = fleet.device("device-1");
  await fleet.ready();
  const before = await device.agentPid();
  const artifact = await fleet.publish({ version: "1.1.0" });
  const attempt = fleet.attempt("device-1", "1.1.0", artifact);
  await fleet.send(attempt);
  const status = await fleet.waitForStatus("device-1", "complete", ({ phase }) => phase === "complete");
  assertEquals(status.attemptId, attempt.attemptId);
  assertEquals(status.transitions.map(({ phase }) => phase), ["preparing", "stopping", "starting", "complete"]);
  assert(status.drainMs !== undefined, "the drain of the agent before is in the status");
  assertEquals(await device.selectedVersion(), "1.1.0");
  const after = await device.agentPid();
  assert(after !== null && after !== before);
});
