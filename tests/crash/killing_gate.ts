/**
 * Gates for crash tests: one that counts the points of a run, and one that closes for good at one of them.
 *
 * @module
 */
import type { Gate } from "./gated_file_system.ts";

/** A point at which a process may be killed: the n-th passage of a gate, from 0. */
export interface KillPoint {
  readonly index: number;
  /** `rename before`, `start after`, … */
  readonly name: string;
}

/** A gate that lets everything pass and lists the points. */
export function countingGate(): { readonly gate: Gate; readonly points: KillPoint[] } {
  const points: KillPoint[] = [];
  const gate: Gate = (operation, side) => {
    points.push({ index: points.length, name: `${operation} ${side}` });
    return Promise.resolve();
  };
  return { gate, points };
}

/**
 * A gate that closes for good at a point: to the program behind it, that is SIGKILL.
 *
 * @param index The point
 */
export function killingGate(index: number): { readonly gate: Gate; readonly killed: Promise<void> } {
  const { promise: killed, resolve } = Promise.withResolvers<void>();
  let passed = 0;
  let dead = false;
  const gate: Gate = () => {
    if (!dead && passed++ < index) return Promise.resolve();
    dead = true;
    resolve();
    return new Promise(() => {});
  };
  return { gate, killed };
}
