/**
 * What `systemctl show` says of a unit, and `systemctl is-system-running` of the system.
 *
 * @module
 */

/** The properties that {@link decodeUnitProperties} reads, for `--property=`. */
export const UNIT_PROPERTIES = [
  "ActiveState",
  "SubState",
  "Result",
  "MainPID",
  "ExecMainPID",
  "ExecMainCode",
  "ExecMainStatus",
  "StatusText",
  "InvocationID",
  "NRestarts",
  "ControlGroup",
  "ConditionResult",
] as const;

/** States of a unit that the updater tells apart. */
export type ActiveState = "active" | "activating" | "deactivating" | "inactive" | "failed";

/** How a process ended, as waitid(2) has it. */
export type ExecCode = "none" | "exited" | "killed" | "dumped";

/** What is known of a unit. */
export interface UnitProperties {
  readonly active: ActiveState;
  readonly sub: string;
  /** systemd's word for the last end: `success`, `exit-code`, `timeout`, … */
  readonly result: string;
  /** 0 when there is none. */
  readonly mainPid: number;
  /** The main process of the last start, also when it has ended; 0 when there was none. */
  readonly execPid: number;
  readonly execCode: ExecCode;
  /** Exit code, or number of the signal. */
  readonly execStatus: number;
  /** The last `STATUS=`; empty when there is none. */
  readonly statusText: string;
  /** Empty when it never started. */
  readonly invocationId: string;
  /** Automatic restarts since the last start by a job. */
  readonly restarts: number;
  /** Path below the root of the control groups; empty when there is none. */
  readonly controlGroup: string;
  /** Whether the conditions of the last start were met, or none was checked. */
  readonly conditionMet: boolean;
}

const ACTIVE_STATES: Readonly<Record<string, ActiveState>> = {
  active: "active",
  reloading: "active",
  refreshing: "active",
  activating: "activating",
  deactivating: "deactivating",
  inactive: "inactive",
  // Its directories are being cleaned: nothing of it runs.
  maintenance: "inactive",
  failed: "failed",
};
/** CLD_EXITED, CLD_KILLED and CLD_DUMPED of waitid(2). */
const EXEC_CODES: Readonly<Record<string, ExecCode>> = { "1": "exited", "2": "killed", "3": "dumped" };

function natural(text: string | undefined): number {
  return text !== undefined && /^[0-9]{1,10}$/.test(text) ? Number(text) : 0;
}

/**
 * Reads the output of `systemctl show`.
 *
 * @param output `NAME=value` lines in any order
 * @returns null when it is not about a unit
 */
export function decodeUnitProperties(output: string): UnitProperties | null {
  const values = new Map(
    output.split("\n").map((line) => {
      const equals = line.indexOf("=");
      return [line.slice(0, equals), line.slice(equals + 1)] as const;
    }),
  );
  const active = ACTIVE_STATES[values.get("ActiveState") ?? ""];
  if (active === undefined) return null;
  return {
    active,
    sub: values.get("SubState") ?? "",
    result: values.get("Result") ?? "",
    mainPid: natural(values.get("MainPID")),
    execPid: natural(values.get("ExecMainPID")),
    execCode: EXEC_CODES[values.get("ExecMainCode") ?? ""] ?? "none",
    execStatus: natural(values.get("ExecMainStatus")),
    statusText: values.get("StatusText") ?? "",
    invocationId: values.get("InvocationID") ?? "",
    restarts: natural(values.get("NRestarts")),
    controlGroup: values.get("ControlGroup") ?? "",
    conditionMet: values.get("ConditionResult") !== "no",
  };
}
