/**
 * Bounded reading of a connection.
 *
 * @module
 */

/** What can be read: a connection or a file of the runtime. */
export interface ByteReader {
  /** Bytes read into the buffer, or null at the end. */
  read(buffer: Uint8Array): Promise<number | null>;
}

/** First read, in bytes: most messages fit into it. */
const FIRST_READ_BYTES = 4_096;

/**
 * Reads until the other side has ended.
 *
 * @param reader The connection
 * @param maxBytes Most bytes
 * @returns all bytes, or null as soon as there are more than `maxBytes`
 */
export async function readToEnd(reader: ByteReader, maxBytes: number): Promise<Uint8Array | null> {
  let buffer = new Uint8Array(Math.min(FIRST_READ_BYTES, maxBytes + 1));
  let length = 0;
  while (true) {
    const count = await reader.read(buffer.subarray(length));
    if (count === null) return buffer.slice(0, length);
    length += count;
    if (length > maxBytes) return null;
    if (length === buffer.byteLength) {
      const larger = new Uint8Array(Math.min(2 * length, maxBytes + 1));
      larger.set(buffer);
      buffer = larger;
    }
  }
}

/**
 * Writes all bytes.
 *
 * @param writer The connection
 * @param bytes What to write
 */
export async function writeAll(
  writer: { write(bytes: Uint8Array): Promise<number> },
  bytes: Uint8Array,
): Promise<void> {
  for (let written = 0; written < bytes.byteLength;) written += await writer.write(bytes.subarray(written));
}
