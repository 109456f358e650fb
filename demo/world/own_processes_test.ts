import { assert, assertEquals } from "@std/assert";
import { runsProgramOf } from "./own_processes.ts";

const DIRECTORY = "/tmp/fleet-demo-1";
const OURS = [
  ["/opt/nats-server", "--config", `${DIRECTORY}/nats/server.conf`],
  ["/x/deno", "run", "--quiet", `${DIRECTORY}/fleet-operator`, "--config", `${DIRECTORY}/operator.json`],
  ["/x/deno", "run", `${DIRECTORY}/fleet-updater`, "serve", "--root", `${DIRECTORY}/d1`],
  ["/x/deno", "run", `${DIRECTORY}/d1/usr/lib/harmony-fleet/fleet-agent-v1.0.0`, "--self-test"],
  ["/x/deno", "run", `${DIRECTORY}/d5/usr/lib/harmony-fleet/.fleet-agent-v1.0.0.1a2b.tmp`, "--self-test"],
  ["/x/deno", "run", `${DIRECTORY}/d1/usr/local/bin/fleet-agent`],
];
const NOT_OURS = [
  [],
  [""],
  ["tail", "-f", `${DIRECTORY}/d1/updater.log`],
  ["vim", `${DIRECTORY}/nats/server.conf`],
  ["/x/deno", "run", `${DIRECTORY}/fleetctl`, "watch", "devices"],
  ["/x/deno", "run", "demo/main.ts"],
  ["/x/deno", "run", `${DIRECTORY}2/fleet-operator`],
  ["/opt/nats-server", "--config", "/etc/nats/server.conf"],
];

Deno.test("runsProgramOf() knows every program of a demo", () => {
  for (const args of OURS) assert(runsProgramOf(args, DIRECTORY), args.join(" "));
});

Deno.test("runsProgramOf() leaves people, their tools and other demos alone", () => {
  for (const args of NOT_OURS) assertEquals(runsProgramOf(args, DIRECTORY), false, args.join(" "));
});
