/**
 * Reads what a person applies.
 *
 * @module
 */
import { errorText, FleetError } from "../../contracts/errors.ts";
import { MANIFEST_MAX_BYTES } from "../../contracts/limits.ts";

/**
 * Reads a file, or the standard input for `-`, up to one byte over the bound.
 *
 * @param file Its name
 * @throws {FleetError} `E_USAGE` when it cannot be read
 */
export async function readInput(file: string): Promise<Uint8Array> {
  if (file === "-") return await readBounded(Deno.stdin);
  try {
    using opened = await Deno.open(file, { read: true });
    return await readBounded(opened);
  } catch (error) {
    throw new FleetError(`Cannot read ${file}: ${errorText(error)}`, { code: "E_USAGE", cause: error });
  }
}

async function readBounded(source: { read(buffer: Uint8Array): Promise<number | null> }): Promise<Uint8Array> {
  const buffer = new Uint8Array(MANIFEST_MAX_BYTES + 1);
  let length = 0;
  while (length < buffer.length) {
    const count = await source.read(buffer.subarray(length));
    if (count === null) break;
    length += count;
  }
  return buffer.slice(0, length);
}
