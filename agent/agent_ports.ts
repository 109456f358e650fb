/**
 * What a running agent needs of the outside; the real ones are made in `main.ts`, tests hand in fakes.
 *
 * @module
 */
import type { Clock } from "../lib/deadline.ts";
import type { FileSystem } from "../lib/durable/file_system.ts";
import type { ProcessLock } from "../lib/durable/process_lock.ts";
import type { Logger } from "../lib/log.ts";
import type { Notifier } from "../lib/systemd/notify.ts";
import type { ContainerEngine } from "./podman/port.ts";
import type { Connector } from "./startup/connect_nats.ts";
import type { UpdaterClient } from "./upgrade/updater_client.ts";

/** What a running agent needs of the outside. */
export interface AgentPorts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly notifier: Notifier;
  readonly connect: Connector;
  readonly client: UpdaterClient;
  /** Null when the agent manages no workloads. */
  readonly engine: ContainerEngine | null;
  /** Takes the lock of the one agent without waiting; null when another process has it. */
  readonly lock: (path: string) => Promise<ProcessLock | null>;
  readonly fileSystem: FileSystem;
  /** Source of randomness in [0, 1). */
  readonly random: () => number;
  /** Interval of the service manager's watchdog in ms; null when it wants none. */
  readonly watchdogMs: number | null;
  /** Starts of the agent under the present boot, where the service manager tells. */
  readonly restarts: number | undefined;
}
