/**
 * Why the demo ends early. Ctrl-C goes to every process of the terminal's group, so that the end of a child may be
 * noticed before the signal is.
 *
 * @module
 */

/** Time in which a signal that has ended a child reaches this process too, in ms. */
const SIGNAL_SETTLE_MS = 200;

/** The reason of the signal that ends the demo. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  readonly exitCode: number;

  /**
   * @param why What ended it
   * @param exitCode Exit code of the demo
   */
  constructor(why: string, exitCode: number) {
    super(why);
    this.exitCode = exitCode;
  }
}

/**
 * To be called when something failed: throws the reason of the signal if the demo is being stopped.
 *
 * @param signal Ends the demo
 */
export async function throwIfStopping(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, SIGNAL_SETTLE_MS));
  signal.throwIfAborted();
}
