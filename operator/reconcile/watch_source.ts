/**
 * Something that the operator reads and follows: everything that is there, `current`, then changes.
 *
 * @module
 */
import type { WatchLoopOptions } from "../runtime/watch_loop.ts";

/** A source of events, and who takes them. */
export type WatchSource<E> = Pick<WatchLoopOptions<E>, "name" | "open" | "onReopen" | "onEvent">;

/** Follows a source for as long as the operator works. */
export type FollowSource = <E extends { readonly kind: string }>(source: WatchSource<E>) => Promise<void>;
