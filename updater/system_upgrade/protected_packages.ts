/**
 * Packages whose removal would leave a device that cannot boot, be reached or be mended: an upgrade that wants to remove
 * one is refused before it begins (reference: a full upgrade has removed udev and the network).
 *
 * The list is compiled in, as all of the policy is (`Fleet tasks`, TaskRun). An asterisk stands for any end of a name.
 *
 * @module
 */
import type { UpgradePlan } from "./parse_simulation.ts";

/** What each group of names keeps alive. */
const PROTECTED: Readonly<Record<string, readonly string[]>> = {
  "the agent, its updater and its runtime": [
    "harmony-fleet*",
    "fleet-agent*",
    "fleet-updater*",
    "podman",
    "crun",
    "runc",
  ],
  "the package system": ["apt", "dpkg", "debian-archive-keyring", "ubuntu-keyring", "raspbian-archive-keyring", "gpgv"],
  "the service manager": [
    "systemd",
    "systemd-sysv",
    "init",
    "sysvinit-core",
    "dbus",
    "udev",
    "libpam-systemd",
    "login",
  ],
  "the kernel and its boot": [
    "linux-image-*",
    "raspberrypi-kernel",
    "raspberrypi-bootloader",
    "raspi-firmware",
    "rpi-eeprom",
    "initramfs-tools",
    "dracut",
    "grub-*",
    "shim-signed",
    "u-boot-*",
    "flash-kernel",
    "cryptsetup*",
    "lvm2",
  ],
  "the network": [
    "ifupdown",
    "ifupdown2",
    "netplan.io",
    "network-manager",
    "systemd-resolved",
    "resolvconf",
    "openresolv",
    "isc-dhcp-client",
    "dhcpcd*",
    "wpasupplicant",
    "iwd",
    "modemmanager",
    "ppp",
    "iproute2",
    "iptables",
    "nftables",
    "firmware-*",
    "wireguard*",
    "tailscale",
    "openvpn",
    "ca-certificates",
  ],
  "the way in and the clock": ["openssh-server", "sudo", "chrony", "ntpsec", "systemd-timesyncd"],
};

const EXACT = new Set<string>();
const BEGINNINGS: string[] = [];
for (const pattern of Object.values(PROTECTED).flat()) {
  if (pattern.endsWith("*")) BEGINNINGS.push(pattern.slice(0, -1));
  else EXACT.add(pattern);
}

/**
 * Whether a package must not be removed by an upgrade.
 *
 * @param name Its name without architecture
 */
export function isProtected(name: string): boolean {
  return EXACT.has(name) || BEGINNINGS.some((beginning) => name.startsWith(beginning));
}

/**
 * Names that a plan removes although it must not. What it removes and installs anew under the same name, as for another
 * architecture, is not gone.
 *
 * @param plan The plan
 */
export function protectedRemovals({ removed, installed, upgraded }: UpgradePlan): string[] {
  const stays = new Set([...installed, ...upgraded].map(({ name }) => name));
  return [...new Set(removed.map(({ name }) => name))].filter((name) => isProtected(name) && !stays.has(name));
}
