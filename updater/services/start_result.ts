/**
 * systemd's word for an end before READY (systemd.exec(5), `$SERVICE_RESULT`; measured with `Type=notify`).
 *
 * @module
 */
import type { StartOutcome } from "../ports.ts";
import type { ProcessExit } from "./agent_process.ts";

type Failed = Extract<StartOutcome, { kind: "failed" }>;

/** Signals that end a daemon cleanly in systemd's eyes: before READY they break the protocol as exit 0 does. */
const CLEAN_SIGNALS: ReadonlySet<string> = new Set(["SIGHUP", "SIGINT", "SIGTERM", "SIGPIPE"]);

/**
 * The result of a process that ended before READY.
 *
 * @param exit How it ended
 */
export function startResult({ exitCode, signal }: ProcessExit): Pick<Failed, "result" | "exitCode" | "signal"> {
  if (signal !== undefined) return { result: CLEAN_SIGNALS.has(signal) ? "protocol" : "signal", signal };
  if (exitCode === undefined || exitCode === 0) return { result: "protocol", exitCode: 0 };
  return { result: "exit-code", exitCode };
}
