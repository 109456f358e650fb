/**
 * An open file of the simulated disk.
 *
 * @module
 */
import type { WritableFile } from "../../lib/durable/file_system.ts";
import { errnoError } from "../../lib/durable/file_system_error.ts";
import type { OperationName } from "./file_operation.ts";
import { BLOCK_BYTES, type FileNode, setDurable } from "./memory_disk.ts";

/** What an open file needs of its disk. */
export interface Disk {
  change<T>(name: OperationName, body: () => T): Promise<T>;
  freeBlocks(): number;
  closed(): void;
}

/** An open file of the simulated disk. */
export class MemoryFile implements WritableFile {
  readonly #node: FileNode;
  readonly #path: string;
  readonly #disk: Disk;
  #position = 0;
  #open = true;

  constructor(node: FileNode, path: string, disk: Disk) {
    this.#node = node;
    this.#path = path;
    this.#disk = disk;
  }

  write(bytes: Uint8Array): Promise<void> {
    return this.#disk.change("write", () => {
      this.#requireOpen("write");
      const node = this.#node;
      const allowedBytes = (node.blocks + this.#disk.freeBlocks()) * BLOCK_BYTES;
      const part = bytes.subarray(0, Math.max(0, Math.min(bytes.byteLength, allowedBytes - this.#position)));
      const end = this.#position + part.byteLength;
      const content = new Uint8Array(Math.max(node.content.byteLength, end));
      content.set(node.content);
      content.set(part, this.#position);
      this.#setContent(content);
      node.blocks = Math.max(node.blocks, Math.ceil(end / BLOCK_BYTES));
      this.#position = end;
      if (part.byteLength < bytes.byteLength) throw errnoError("ENOSPC", `write ${this.#path}`);
    });
  }

  truncate(sizeBytes: number): Promise<void> {
    return this.#disk.change("truncate", () => {
      this.#requireOpen("truncate");
      const content = new Uint8Array(sizeBytes);
      content.set(this.#node.content.subarray(0, sizeBytes));
      this.#setContent(content);
      this.#node.blocks = Math.min(this.#node.blocks, Math.ceil(sizeBytes / BLOCK_BYTES));
    });
  }

  sync(): Promise<void> {
    return this.#disk.change("sync", () => {
      this.#requireOpen("sync");
      setDurable(this.#node);
    });
  }

  async close(): Promise<void> {
    this.#open = false;
    this.#disk.closed();
  }

  #setContent(content: Uint8Array): void {
    this.#node.content = content;
    this.#node.afterCrash = null;
  }

  #requireOpen(verb: string): void {
    if (!this.#open) throw errnoError("EBADF", `${verb} ${this.#path}`);
  }
}
