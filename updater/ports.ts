/**
 * What the updater's interpreter needs of the outside. Each adapter passes the conformance suite of its port.
 *
 * @module
 */
import type { PostMortem } from "../contracts/agent_upgrade.ts";

export type { Fetcher, FetchRequest } from "../lib/fetch/fetcher.ts";

/** How a start ended. Only `failed` is a verdict on the process (DESIGN 5, Verdicts). */
export type StartOutcome =
  | { readonly kind: "ready"; readonly invocationId?: string }
  | {
    readonly kind: "failed";
    /** systemd's result word; the last two are the machine's doing. */
    readonly result:
      | "protocol"
      | "exit-code"
      | "signal"
      | "core-dump"
      | "timeout"
      | "watchdog"
      | "oom-kill"
      | "resources";
    readonly exitCode?: number;
    readonly signal?: string;
    /** Last `STATUS=` of the process, read before anything stops it. */
    readonly statusText?: string;
    /** Last output lines, oldest first, bounded. */
    readonly lastLines: readonly string[];
    readonly durationMs: number;
    readonly invocationId?: string;
  }
  | {
    readonly kind: "no-verdict";
    readonly why: "canceled" | "refused" | "bus-error" | "stopping";
    readonly message: string;
  };

/** How a stop ended. Stopped means inactive or failed, with no process left. */
export type StopOutcome =
  | { readonly kind: "stopped" }
  | { readonly kind: "not-stopped"; readonly message: string }
  | { readonly kind: "no-verdict"; readonly message: string };

/** What the service manager knows of the agent. */
export interface ServiceState {
  readonly active: "active" | "activating" | "deactivating" | "inactive" | "failed";
  readonly mainPid?: number;
  readonly invocationId?: string;
  readonly statusText?: string;
  /** Automatic restarts since the last start. */
  readonly restarts: number;
}

/** The service manager of the agent's one unit. No method throws for what the process does. */
export interface ServiceManager {
  /** Name of the unit, for status fields. */
  readonly unit: string;
  /** Where its output stands in journald; absent where no journal has it. */
  readonly journalUnit?: string;
  /** Starts the agent that the link selects and waits for READY, failure or the bound. Active already: `ready`. */
  start(): Promise<StartOutcome>;
  /** Stops it and waits until no process is left or the bound has passed. Not running: `stopped`. */
  stop(): Promise<StopOutcome>;
  /** Forgets earlier failures, so that a start is not refused for them; idempotent. */
  resetFailed(): Promise<void>;
  /** What is known now. */
  show(): Promise<ServiceState>;
}

/** A service manager as the updater's own life uses it. */
export interface ManagedService extends ServiceManager {
  /** Has the agent started unless it runs or is being started, where nobody else does so at boot. */
  ensureRunning(): void;
  /** Ends the updater's part, not the agent. What is under way ends without a verdict. */
  close(): Promise<void>;
}

/** How a probe ended. */
export type ProbeOutcome =
  | { readonly kind: "passed" }
  | {
    readonly kind: "failed";
    readonly reason: string;
    readonly error: string;
    readonly failureClass: "version" | "environment" | "internal";
    readonly postMortem: PostMortem;
  };

/** Runs a candidate's self-test. */
export interface Prober {
  /** Runs `<path> --self-test`, bounded in time and output, and requires the compiled version. Never throws. */
  probe(path: string, targetVersion: string, signal: AbortSignal): Promise<ProbeOutcome>;
}
