/**
 * What the end of a job says: about the binary, about its surroundings, or nothing (DESIGN 5, Verdicts; the table of
 * systemd's answers is in `docs/operations.md`).
 *
 * @module
 */
import { ENVIRONMENT_STEPS, EXIT_ENVIRONMENT, readinessStepOf } from "../../contracts/readiness.ts";
import type { StartOutcome, StopOutcome } from "../ports.ts";
import type { EventBody } from "./event.ts";
import { boundedPostMortem } from "./post_mortem.ts";
import type { Finding } from "./record.ts";

type Failed = Extract<StartOutcome, { kind: "failed" }>;

/** Whether a failed start was the surroundings' doing: exit 75, or a timeout while waiting for them. */
function isEnvironment({ result, exitCode, statusText = "" }: Failed): boolean {
  if (result === "exit-code") return exitCode === EXIT_ENVIRONMENT;
  // A machine without memory, or without what systemd needs to start a process, would fail any binary.
  if (result === "oom-kill" || result === "resources") return true;
  if (result !== "timeout") return false;
  const step = readinessStepOf(statusText);
  return step !== undefined && ENVIRONMENT_STEPS.has(step);
}

function describe({ result, exitCode, signal, statusText }: Failed): { reason: string; error: string } {
  const last = statusText === undefined || statusText === "" ? "" : `, last status: ${statusText}`;
  switch (result) {
    case "protocol":
      return { reason: "ExitedBeforeReady", error: `the agent exited with 0 before it was ready${last}` };
    case "exit-code":
      return {
        reason: "ExitedBeforeReady",
        error: `the agent exited with ${exitCode ?? "?"} before it was ready${last}`,
      };
    case "signal":
    case "core-dump":
      return {
        reason: "KilledBeforeReady",
        error: `the agent ended by ${signal ?? "a signal"} before it was ready${last}`,
      };
    case "timeout":
      return { reason: "NeverReady", error: `the agent was not ready in time${last}` };
    case "oom-kill":
      return { reason: "OutOfMemory", error: `the agent was killed for want of memory before it was ready${last}` };
    case "resources":
      return { reason: "ResourcesExhausted", error: "the agent could not be started: the system lacks resources" };
    case "watchdog":
      return { reason: "WatchdogExpired", error: `the agent stopped answering the watchdog${last}` };
  }
}

/**
 * The event of a start's end.
 *
 * @param outcome How it ended
 * @param unit Name of the unit, for the post-mortem
 */
export function judgeStart(outcome: StartOutcome, unit: string): EventBody {
  switch (outcome.kind) {
    case "ready":
      return {
        kind: "ServiceStarted",
        ...(outcome.invocationId === undefined ? {} : { invocationId: outcome.invocationId }),
      };
    case "no-verdict":
      return {
        kind: "JobInconclusive",
        error: `the start said nothing about the agent (${outcome.why}): ${outcome.message}`,
      };
    case "failed":
      return { kind: "StartFailed", finding: findingOf(outcome, unit) };
  }
}

function findingOf(outcome: Failed, unit: string): Finding {
  const { reason, error } = describe(outcome);
  const environment = isEnvironment(outcome);
  const { kind: _kind, lastLines, durationMs, result, exitCode, signal, statusText, invocationId } = outcome;
  return {
    reason: environment ? "EnvironmentUnavailable" : reason,
    failureClass: environment ? "environment" : "version",
    error,
    postMortem: boundedPostMortem({
      stage: "start",
      result,
      unit,
      durationMs,
      lastLines: [...lastLines],
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(signal === undefined ? {} : { signal }),
      ...(statusText === undefined ? {} : { statusText }),
      ...(invocationId === undefined ? {} : { invocationId }),
    }),
  };
}

/**
 * The event of a stop's end.
 *
 * @param outcome How it ended
 */
export function judgeStop(outcome: StopOutcome): EventBody {
  switch (outcome.kind) {
    case "stopped":
      return { kind: "ServiceStopped" };
    case "not-stopped":
      return { kind: "StopFailed", error: outcome.message };
    case "no-verdict":
      return { kind: "JobInconclusive", error: outcome.message };
  }
}
