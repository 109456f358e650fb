/**
 * Sizes as a person reads them.
 *
 * @module
 */

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/**
 * A number of bytes with three digits: `512 B`, `64.0 MiB`.
 *
 * @param sizeBytes The number
 */
export function byteSize(sizeBytes: number): string {
  let value = sizeBytes;
  let unit = 0;
  // 1023.95 would be shown as 1024.0, four digits of the smaller unit.
  while (value >= 1_023.95 && unit < UNITS.length - 1) {
    value /= 1_024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
