/**
 * The adapter of {@link UpgradeHost} for Linux and systemd.
 *
 * @module
 */
import {
  APT_LOOK_TIMEOUT_MS,
  PROCESS_POLL_MS,
  REBOOT_RETRY_MS,
  REBOOT_RETRY_WINDOW_MS,
  REBOOT_SHOWS_WITHIN_MS,
  REBOOT_UNDER_WAY_MS,
  SYSTEM_TOOL_TIMEOUT_MS,
} from "../../contracts/limits.ts";
import { bounded } from "../../contracts/formats.ts";
import type { Clock } from "../../lib/deadline.ts";
import { loweredBound } from "../../lib/lowered_bound.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import type { Logger } from "../../lib/log.ts";
import type { SystemTool } from "../systemd/system_tool.ts";
import type { UnitCommand } from "./apt/unit_command.ts";
import { upgradeFinding } from "./core/ledger.ts";
import { type Space, SPACE_PATHS } from "./core/space_rule.ts";
import type { StepResult, UpgradeHost } from "./ports.ts";

/** Bounds of a reboot, in ms; each can be lowered below its limit only. */
export interface RebootBounds {
  readonly rebootRetryWindowMs?: number;
  readonly rebootRetryMs?: number;
}

/** What the adapter is made of. */
export interface LinuxHostOptions {
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly log: Logger;
  readonly tool: SystemTool;
  readonly command: UnitCommand;
  /** Number of the file system of a path, or null when there is no such path. */
  readonly deviceOf: (path: string) => Promise<number | null>;
  readonly bounds?: RebootBounds;
}

/** What distributions leave where a reboot is due. */
const REBOOT_REQUIRED = "/run/reboot-required";

/** Who holds an inhibitor of the shutdown is respected, as a person at the terminal would have to. */
const REBOOT = ["systemctl", "reboot", "--no-ask-password", "--check-inhibitors=yes"] as const;

class LinuxHost implements UpgradeHost {
  readonly #options: LinuxHostOptions;

  constructor(options: LinuxHostOptions) {
    this.#options = options;
  }

  async spaces(): Promise<Space[]> {
    const { deviceOf, fs } = this.#options;
    const spaces: Space[] = [];
    for (const path of SPACE_PATHS) {
      const device = await deviceOf(path);
      if (device !== null) spaces.push({ path, device, freeBytes: await fs.freeBytes(path) });
    }
    return spaces;
  }

  async isRebootDue(): Promise<boolean> {
    return await this.#options.fs.stat(REBOOT_REQUIRED) !== null;
  }

  async reboot(signal: AbortSignal): Promise<StepResult> {
    const { bounds, clock, command, log } = this.#options;
    const endMs = clock.monotonicMs() + loweredBound(REBOOT_RETRY_WINDOW_MS, bounds?.rebootRetryWindowMs);
    for (;;) {
      if (await this.#isStopping(signal)) return await this.#untilGone(signal);
      const run = await command(REBOOT, APT_LOOK_TIMEOUT_MS, signal);
      if (await this.#showsStopping(signal)) return await this.#untilGone(signal);
      const said = run.lines.at(-1) ?? (run.succeeded ? "it was ordered, and nothing came of it" : "it said nothing");
      log.state("reboot", "the reboot is refused", { error: said }, "warn");
      if (clock.monotonicMs() >= endMs) {
        const error = bounded(`the device was not rebooted: ${said}`);
        return { ok: false, finding: upgradeFinding("RebootRefused", error) };
      }
      await clock.sleep(loweredBound(REBOOT_RETRY_MS, bounds?.rebootRetryMs), signal);
    }
  }

  /** An accepted order shows with a delay: whoever asked for one may delay the shutdown. */
  async #showsStopping(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    const endMs = clock.monotonicMs() + REBOOT_SHOWS_WITHIN_MS;
    for (;;) {
      if (await this.#isStopping(signal)) return true;
      if (clock.monotonicMs() >= endMs || !await this.#isOrdered(signal)) return false;
      await clock.sleep(10 * PROCESS_POLL_MS, signal);
    }
  }

  async #isStopping(signal: AbortSignal): Promise<boolean> {
    return await this.#says("systemctl", ["is-system-running"], signal) === "stopping";
  }

  /** logind waits for those who delay a shutdown before systemd hears of it. */
  async #isOrdered(signal: AbortSignal): Promise<boolean> {
    const bus = ["org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager"];
    const said = await this.#says("busctl", ["get-property", ...bus, "PreparingForShutdown"], signal);
    return said === "b true";
  }

  async #says(program: "systemctl" | "busctl", args: readonly string[], signal: AbortSignal): Promise<string> {
    const run = await this.#options.tool(program, args, SYSTEM_TOOL_TIMEOUT_MS, signal);
    signal.throwIfAborted();
    return new TextDecoder().decode(run.stdout).trim();
  }

  /** The end of this process is how it goes on; a shutdown that hangs is told all the same. */
  async #untilGone(signal: AbortSignal): Promise<StepResult> {
    const { clock, log } = this.#options;
    log.info("the reboot is under way");
    await clock.sleep(REBOOT_UNDER_WAY_MS, signal);
    const error = `the reboot was under way, and was not over within ${REBOOT_UNDER_WAY_MS} ms`;
    return { ok: false, finding: upgradeFinding("RebootRefused", error) };
  }
}

/**
 * The adapter for Linux and systemd.
 *
 * @param options Files, clock, systemd's programs
 */
export function linuxHost(options: LinuxHostOptions): UpgradeHost {
  return new LinuxHost(options);
}
