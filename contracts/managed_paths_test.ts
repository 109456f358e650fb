import { assert, assertEquals, assertThrows } from "@std/assert";
import { FleetError } from "./errors.ts";
import { absolutePath } from "./formats.ts";
import { binaryPath, managedPaths, versionOfBinary } from "./managed_paths.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("managedPaths() gives the design's paths, and all of them below a root", () => {
  const paths = managedPaths();
  assertEquals(paths.binariesDirectory, "/usr/lib/harmony-fleet");
  assertEquals(paths.agentLink, "/usr/local/bin/fleet-agent");
  assertEquals(paths.journal, "/var/lib/harmony-fleet/updater/upgrade.json");
  assertEquals(paths.updaterSocket, "/run/harmony-fleet/updater.sock");
  assertEquals(paths.repairSocket, "/run/harmony-fleet/repair.sock");
  assertEquals(paths.agentConfig, "/etc/harmony-fleet/agent.json");
  assertEquals(paths.updaterConfig, "/etc/harmony-fleet/updater.json");
  assertEquals(paths.agentLock, "/var/lib/harmony-fleet/agent/agent.lock");
  for (const root of ["/srv/device-1", "/srv/device-1/", "/srv/device-1//"]) {
    const rooted = managedPaths(root);
    for (const [name, path] of Object.entries(rooted)) {
      assertEquals(path, `/srv/device-1${paths[name as keyof typeof paths]}`);
      assertEquals(absolutePath(path, name), path);
    }
  }
  assertEquals(managedPaths("/"), paths);
});

pure("binaryPath() and versionOfBinary() are inverse, and take versions only", () => {
  const paths = managedPaths("/srv/d");
  for (const version of ["1.4.0", "1.0.0-rc.1+build.5", `1.0.0-${"a".repeat(58)}`]) {
    const path = binaryPath(paths, version);
    assertEquals(path, `/srv/d/usr/lib/harmony-fleet/fleet-agent-v${version}`);
    assertEquals(versionOfBinary(paths, path), version);
  }
  for (
    const version of ["", "..", "../1.4.0", "1.4.0/..", "1.4.0/../../x", "v1.4.0", `1.0.0-${"a".repeat(59)}`, "1.4.0\0"]
  ) {
    const error = assertThrows(() => binaryPath(paths, version), FleetError);
    assertEquals([error.code, error.field], ["E_DECODE", "targetVersion"]);
  }
});

pure("versionOfBinary() refuses every path outside of the managed ones", () => {
  const paths = managedPaths("/srv/d");
  const outside = [
    "/usr/lib/harmony-fleet/fleet-agent-v1.4.0",
    "/srv/d/usr/lib/harmony-fleet/fleet-agent-v../../../etc/passwd",
    "/srv/d/usr/lib/harmony-fleet/fleet-agent-v1.4.0/x",
    "/srv/d/usr/lib/harmony-fleet/fleet-agent-v",
    "/srv/d/usr/lib/harmony-fleet/other-v1.4.0",
    "/srv/d/usr/lib/harmony-fleet/./fleet-agent-v1.4.0",
    "srv/d/usr/lib/harmony-fleet/fleet-agent-v1.4.0",
    "",
  ];
  for (const path of outside) {
    const error = assertThrows(() => versionOfBinary(paths, path), FleetError);
    assertEquals([error.code, error.field], ["E_DECODE", "path"], path);
  }
  assert(versionOfBinary(paths, binaryPath(paths, "1.4.0")) === "1.4.0");
});
