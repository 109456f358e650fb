/**
 * The id of a boot in one form: the kernel writes it with dashes, systemd's `%b` without.
 *
 * @module
 */

const BARE_BOOT_ID_REGEXP = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

/**
 * A boot id in the kernel's form.
 *
 * @param text The id as the kernel or systemd writes it
 */
export function kernelBootId(text: string): string {
  return text.trim().replace(BARE_BOOT_ID_REGEXP, "$1-$2-$3-$4-$5");
}
