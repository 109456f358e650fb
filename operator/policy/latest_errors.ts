/**
 * The latest error among many devices, kept up to date by what each of them contributes.
 *
 * @module
 */

/** The latest error of a resource's targets. */
export interface LatestError {
  readonly deviceId: string;
  readonly error: string;
  /** Receipt at the broker of the status that told it, RFC 3339. */
  readonly at: string;
}

/** Errors of devices. */
export class LatestErrors {
  readonly #failing = new Map<string, Omit<LatestError, "deviceId">>();
  /** The latest of them; undefined while it must be looked for. */
  #latest: LatestError | null | undefined = null;

  /** Takes a device's error in place of its last one; undefined for none. */
  set(deviceId: string, error: string | undefined, at: string): void {
    if (this.#failing.delete(deviceId) && this.#latest?.deviceId === deviceId) this.#latest = undefined;
    if (error === undefined) return;
    this.#failing.set(deviceId, { error, at });
    if (this.#latest !== undefined) this.#latest = later(this.#latest, { deviceId, error, at });
  }

  /** The latest, the same for whoever asks; null when no device has one. */
  get latest(): LatestError | null {
    // Looked for when it is asked for and unknown, not at each event: at most once per write of the resource's status.
    if (this.#latest === undefined) {
      this.#latest = null;
      for (const [deviceId, error] of this.#failing) this.#latest = later(this.#latest, { deviceId, ...error });
    }
    return this.#latest;
  }
}

function later(a: LatestError | null, b: LatestError): LatestError {
  if (a === null || b.at > a.at) return b;
  // The id decides between equal times, so that every operator names the same device.
  return b.at === a.at && b.deviceId > a.deviceId ? b : a;
}
