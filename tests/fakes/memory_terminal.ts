/**
 * A terminal that keeps what is written to it.
 *
 * @module
 */
import { type Paint, plainPaint } from "../../operator/cli/render/paint.ts";
import type { Terminal } from "../../operator/cli/terminal.ts";
import { FleetError } from "../../contracts/errors.ts";

/** A terminal for tests: a pipe without colours unless it is told otherwise. */
export class MemoryTerminal implements Terminal {
  stdout = "";
  stderr = "";
  width: number | null = null;
  paint: Paint = plainPaint;
  errIsTerminal = false;
  /** What a person answers; null when there is nobody to ask. */
  answer: boolean | null = null;
  /** What a person was asked. */
  readonly questions: string[] = [];
  /** When set, nobody reads the results any more. */
  closed = false;
  readonly #waiters = new Set<() => void>();

  out(text: string): Promise<void> {
    if (this.closed) return Promise.reject(new FleetError("Cannot write", { code: "E_OUTPUT_CLOSED" }));
    this.stdout += text;
    this.#wake();
    return Promise.resolve();
  }

  err(text: string): Promise<void> {
    this.stderr += text;
    this.#wake();
    return Promise.resolve();
  }

  confirm(question: string): Promise<boolean | null> {
    this.questions.push(question);
    return Promise.resolve(this.answer);
  }

  /** Waits until the results contain a text. */
  async shows(text: string): Promise<void> {
    while (!this.stdout.includes(text)) await new Promise<void>((resolve) => this.#waiters.add(resolve));
  }

  #wake(): void {
    for (const wake of this.#waiters) wake();
    this.#waiters.clear();
  }
}
