/**
 * A notifier that remembers what was said.
 *
 * @module
 */
import type { Notification } from "../../lib/systemd/notification.ts";
import type { Notifier } from "../../lib/systemd/notify.ts";

/** A notifier that remembers what was said. */
export class FakeNotifier implements Notifier {
  readonly supervised = true;
  readonly said: Notification[] = [];

  notify(notification: Notification, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    this.said.push(notification);
    return Promise.resolve();
  }

  close(): void {}

  /** All `STATUS=` texts, oldest first. */
  get statuses(): string[] {
    return this.said.flatMap(({ status }) => status === undefined ? [] : [status]);
  }

  /** Whether READY was said. */
  get ready(): boolean {
    return this.said.some(({ ready }) => ready === true);
  }
}
