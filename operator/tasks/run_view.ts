/**
 * The runs that the operator knows, by uid: a name may be another run after it was deleted.
 *
 * @module
 */
import type { TaskRun } from "../../contracts/task_run.ts";
import type { StoreEvent } from "../stores/port.ts";

/** Runs of the store. */
export class RunView {
  readonly #byId = new Map<string, TaskRun>();
  readonly #idByName = new Map<string, string>();
  readonly #unreadable = new Set<string>();
  /** Runs that somebody was seen to delete, while something is left of them. */
  readonly #deleted = new Set<string>();

  /** A run that can be read. */
  run(runId: string): TaskRun | undefined {
    return this.#byId.get(runId);
  }

  /** Ids of all runs that can be read. */
  get runIds(): Iterable<string> {
    return this.#byId.keys();
  }

  /** Whether a run cannot be read: which ones exist is not known as long. */
  get hasUnreadable(): boolean {
    return this.#unreadable.size > 0;
  }

  /** Whether somebody was seen to delete a run. */
  isDeleted(runId: string): boolean {
    return this.#deleted.has(runId);
  }

  /** Forgets a deleted run: nothing is left of it. */
  forget(runId: string): void {
    this.#deleted.delete(runId);
  }

  /**
   * Takes a run.
   *
   * @returns ids of the runs that must be looked at
   */
  put(run: TaskRun): string[] {
    const { name, uid } = run.metadata;
    this.#unreadable.delete(name);
    const before = this.#idByName.get(name);
    const dropped = before === undefined || before === uid ? [] : this.#drop(name, true);
    this.#byId.set(uid, run);
    this.#idByName.set(name, uid);
    return [...dropped, uid];
  }

  /**
   * Takes an event of the store; `current` changes nothing.
   *
   * @returns ids of the runs that must be looked at
   */
  takeEvent(event: StoreEvent<"TaskRun">): string[] {
    switch (event.kind) {
      case "put":
        return this.put(event.resource);
      case "delete":
        this.#unreadable.delete(event.name);
        return this.#drop(event.name, event.vanished !== true);
      case "malformed":
        this.#unreadable.add(event.name);
        this.#drop(event.name, false);
        return [];
      case "current":
        return [];
    }
  }

  #drop(name: string, isDeleted: boolean): string[] {
    const runId = this.#idByName.get(name);
    if (runId === undefined) return [];
    this.#idByName.delete(name);
    this.#byId.delete(runId);
    if (isDeleted) this.#deleted.add(runId);
    return [runId];
  }
}
