/**
 * A device with systemd as pid 1, whatever it is made of: what scenarios do with one.
 *
 * @module
 */
import type { LabSystem } from "./lab_image.ts";

/** What a device is made of. */
export interface LabDeviceOptions {
  readonly system: LabSystem;
  /** Files and folders of the host, for reading on the device: path on the device to path on the host. */
  readonly binds: Readonly<Record<string, string>>;
}

/** How a command on a device ended. */
export interface DeviceRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A booted, or switched off, device. */
export abstract class Device implements AsyncDisposable {
  abstract readonly system: LabSystem;
  /** Where its files are on the host; they go with it. */
  abstract readonly directory: string;
  /** Whether it is on. */
  abstract readonly isOn: boolean;

  /** Shares a file or folder of the host with it, for reading, from its next boot on. */
  abstract share(inside: string, outside: string): void;

  /** Shows it what has been added to shared folders since it was booted. */
  abstract refresh(): Promise<void>;

  /** Boots it and waits until systemd takes orders; units may still be starting. */
  abstract boot(): Promise<void>;

  /** The updater's socket, or another one of the device, as the host reaches it. */
  abstract hostPath(path: string): string;

  /** Runs a command as root on the device. */
  abstract exec(command: readonly string[], stdin?: string): Promise<DeviceRun>;

  /** Starts an orderly end, and waits for it: `poweroff`, or `reboot`, which {@link boot} completes. */
  abstract shutDown(verb: "poweroff" | "reboot"): Promise<void>;

  /** Ends it at once, as a cut of its power does. */
  abstract cut(): Promise<void>;

  abstract [Symbol.asyncDispose](): Promise<void>;

  /**
   * Runs a shell script as root on the device.
   *
   * @param script The script
   * @returns what it printed
   * @throws {Error} when it fails
   */
  async sh(script: string): Promise<string> {
    const { code, stdout, stderr } = await this.exec(["sh", "-eu", "-c", script]);
    if (code !== 0) throw new Error(`Cannot run on the device: ${script}\nexit ${code}: ${stderr}${stdout}`);
    return stdout.trimEnd();
  }

  /** Writes a file on the device. */
  async write(path: string, text: string, mode = "0644"): Promise<void> {
    const { code, stderr } = await this.exec(["sh", "-c", 'cat >"$1" && chmod "$2" "$1"', "sh", path, mode], text);
    if (code !== 0) throw new Error(`Cannot write ${path} on the device: ${stderr}`);
  }

  /** One property of a unit. */
  async property(unit: string, name: string): Promise<string> {
    return (await this.exec(["systemctl", "show", unit, "--property", name, "--value"])).stdout.trim();
  }
}

/** A kind of devices. */
export interface DeviceKind {
  /**
   * Makes a device, switched off.
   *
   * @param options System, shared files
   */
  create(options: LabDeviceOptions): Promise<Device>;
  /** Where devices reach servers that listen on this machine's `127.0.0.1`. */
  readonly hostAddress: string;
  /** How many times as long as in a container something may take. */
  readonly patience: number;
  /** Time for which a scenario holds a phase in order to act in it, in ms. */
  readonly holdMs: number;
  /** Time between two looks at a device, which cost it something, in ms. */
  readonly lookIntervalMs: number;
}
