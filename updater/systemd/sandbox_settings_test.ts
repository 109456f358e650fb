import { assert, assertEquals } from "@std/assert";
import { sandboxSettings } from "./sandbox_settings.ts";

const FILES = `# /etc/systemd/system/fleet-agent.service
[Unit]
Description=agent
[Service]
Type=notify
User = fleet-agent
ExecStart=/usr/local/bin/fleet-agent \\
  --config x
Environment=BOOT=%b "PERCENT=50%%"
SystemCallFilter=@system-service \\
# a comment in between
  @pkey
; another
RestartSec=3s
WatchdogSec=60s
CapabilityBoundingSet=
Slice=%j.slice
ReadOnlyPaths=%E/x

# /etc/systemd/system/fleet-agent.service.d/proxy.conf
[Service]
Environment=HTTPS_PROXY=http://proxy:3128
[Install]
WantedBy=multi-user.target
`;

Deno.test("sandboxSettings() keeps user, sandbox and environment, drop-ins included, in order", () => {
  assertEquals(sandboxSettings(FILES, { b: "0123" }), [
    "User=fleet-agent",
    'Environment=BOOT=0123 "PERCENT=50%"',
    "SystemCallFilter=@system-service  @pkey",
    "CapabilityBoundingSet=",
    "Environment=HTTPS_PROXY=http://proxy:3128",
  ]);
});

Deno.test("sandboxSettings() of the agent's own unit leave nothing of the service's life", async () => {
  const text = await Deno.readTextFile(new URL("../../deploy/systemd/fleet-agent.service", import.meta.url));
  const names = sandboxSettings(text, { b: "0123" }).map((setting) => setting.slice(0, setting.indexOf("=")));
  for (const name of ["Type", "ExecStart", "Restart", "RestartSec", "TimeoutStartSec", "WatchdogSec", "NotifyAccess"]) {
    assert(!names.includes(name), name);
  }
  for (const name of ["User", "Environment", "ProtectSystem", "SystemCallFilter", "UMask", "StateDirectory"]) {
    assert(names.includes(name), name);
  }
});
