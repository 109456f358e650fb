/**
 * A program that a service manager runs in tests: what it does is told by data, so that a fake can play it and a real
 * process can be it (`service_program_main.ts`).
 *
 * @module
 */
import { flag, integer, list, object, oneOf, optional, text } from "../../contracts/codec.ts";
import type { Decoded } from "../../contracts/codec.ts";

const anyText = text({ what: "text", maxChars: 1_024, minChars: 0 });

/** Decodes a program. */
export const serviceProgram = object({
  /** What it does once it runs. */
  does: oneOf(["ready", "wait", "exit", "signal", "ready-and-exit"]),
  /** Exit code of `exit` and `ready-and-exit`. */
  exitCode: optional(integer(0, 255)),
  /** Signal that it ends itself with, for `signal`. */
  signal: optional(anyText),
  /** Its `STATUS=`, sent before anything else. */
  statusText: optional(anyText),
  /** Lines that it prints first. */
  output: optional(list(anyText, 100)),
  /** Whether it goes on when it is asked to end. */
  ignoresTerm: optional(flag),
  /** Starts a child in its group, and one in a session of its own, that both ignore everything and live on. */
  leavesChildren: optional(flag),
  /** Claims READY for another process than itself. */
  wrongMainPid: optional(flag),
  /** Says that it is alive, and prints `alive`, this often, in ms. */
  watchdogEveryMs: optional(integer(1)),
});
/** A program that a service manager runs in tests. */
export type ServiceProgram = Decoded<typeof serviceProgram>;
