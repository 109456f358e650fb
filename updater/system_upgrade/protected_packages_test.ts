import { assertEquals } from "@std/assert";
import type { UpgradePlan } from "./parse_simulation.ts";
import { isProtected, protectedRemovals } from "./protected_packages.ts";

const NOTHING: UpgradePlan = { upgraded: [], installed: [], removed: [], kept: [], keptCount: 0 };

Deno.test("isProtected() knows what a device lives by", () => {
  for (const name of ["udev", "systemd", "netplan.io", "linux-image-6.1.0-28-amd64", "openssh-server", "apt"]) {
    assertEquals(isProtected(name), true, name);
  }
  for (const name of ["vim", "systemd-container", "udevil", "linux-headers-amd64", "apt-utils"]) {
    assertEquals(isProtected(name), false, name);
  }
});

Deno.test("protectedRemovals() names what is removed and stays away", () => {
  const removed = ["udev", "vim", "udev", "podman"].map((name) => ({ name }));
  assertEquals(protectedRemovals({ ...NOTHING, removed }), ["udev", "podman"]);
  assertEquals(protectedRemovals({ ...NOTHING, removed, installed: [{ name: "podman", to: "2" }] }), ["udev"]);
  assertEquals(protectedRemovals(NOTHING), []);
});
