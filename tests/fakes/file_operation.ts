/**
 * Operations of a file system that change something, numbered, so that a test can stop or fail at each of them.
 *
 * @module
 */

/** Names of the operations that change something. Reading, opening and closing are not among them. */
export type OperationName =
  | "create"
  | "write"
  | "truncate"
  | "sync"
  | "rename"
  | "symlink"
  | "remove"
  | "syncDirectory"
  | "makeDirectory"
  | "chown";

/** One call of an operation. */
export interface FileOperation {
  /** Number of the operation on its file system, from 1. */
  readonly index: number;
  readonly name: OperationName;
  /** What it changes; for a rename the destination. */
  readonly path: string;
}

/** Power is cut or the process is killed: nothing of the program runs after it. */
export class SimulatedCrash extends Error {
  override readonly name = "SimulatedCrash";
  readonly operation: FileOperation;

  constructor(when: "before" | "after", operation: FileOperation) {
    super(`crash ${when} operation ${operation.index}, ${operation.name} ${operation.path}`);
    this.operation = operation;
  }
}
