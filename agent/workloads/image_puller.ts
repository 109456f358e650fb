/**
 * Fetches images, one at a time, beside the loop that changes containers: an image may take an hour over a bad link, and
 * no other workload waits for it. A pull changes no container; it ends at once when the agent drains, and what it has
 * fetched by then is Podman's to keep.
 *
 * @module
 */
import type { ContainerEngine } from "../podman/port.ts";

/** How the image of a place stands. */
export type PullState =
  | { readonly kind: "pulling" }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly error: unknown };

interface Wish {
  readonly image: string;
  state: PullState;
}

/** Fetches images. */
export class ImagePuller {
  readonly #engine: Pick<ContainerEngine, "pull">;
  readonly #onEnd: () => void;
  readonly #wishes = new Map<string, Wish>();
  #wished = Promise.withResolvers<void>();

  /**
   * @param engine The engine
   * @param onEnd Called when a pull has ended, well or not
   */
  constructor(engine: Pick<ContainerEngine, "pull">, onEnd: () => void) {
    this.#engine = engine;
    this.#onEnd = onEnd;
  }

  /**
   * How the image of a place stands; undefined when nobody wants it pulled.
   *
   * @param key The place
   * @param image Its image; what was pulled for another image counts no more
   */
  state(key: string, image: string): PullState | undefined {
    const wish = this.#wishes.get(key);
    return wish?.image === image ? wish.state : undefined;
  }

  /** Wants the image of a place pulled. */
  want(key: string, image: string): void {
    if (this.state(key, image)?.kind === "pulling") return;
    this.#wishes.set(key, { image, state: { kind: "pulling" } });
    this.#wished.resolve();
  }

  /** Forgets what came of it. */
  forget(key: string): void {
    this.#wishes.delete(key);
  }

  /** Forgets all places but these. */
  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#wishes.keys()) if (!keys.has(key)) this.#wishes.delete(key);
  }

  /** Pulls what is wanted until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
    while (!signal.aborted) {
      this.#wished = Promise.withResolvers();
      const next = [...this.#wishes.values()].find(({ state }) => state.kind === "pulling");
      if (next === undefined) await Promise.race([this.#wished.promise, aborted]);
      else await this.#pull(next.image, signal);
    }
  }

  async #pull(image: string, signal: AbortSignal): Promise<void> {
    let state: PullState;
    try {
      await this.#engine.pull(image, signal);
      state = { kind: "done" };
    } catch (error) {
      if (signal.aborted) return;
      state = { kind: "failed", error };
    }
    // Whoever else waits for the same image has it now too.
    for (const wish of this.#wishes.values()) {
      if (wish.image === image && wish.state.kind === "pulling") wish.state = state;
    }
    this.#onEnd();
  }
}
