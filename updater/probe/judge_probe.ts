/**
 * What a self-test's end says about a candidate. Pure.
 *
 * | End | Class |
 * |---|---|
 * | a report of another version or architecture, or none that can be read | version |
 * | a report whose failed checks are all the surroundings' | environment |
 * | a report with any other failed check | version |
 * | exit 75 without a report | environment |
 * | any other exit, a signal, the time limit, too much output | version |
 * | the updater stops | internal |
 *
 * @module
 */
import { decodeBytes } from "../../contracts/codec.ts";
import { errorText } from "../../contracts/errors.ts";
import { type Architecture, bounded } from "../../contracts/formats.ts";
import { PROBE_OUTPUT_MAX_BYTES, SELF_TEST_REPORT_MAX_BYTES } from "../../contracts/limits.ts";
import { ENVIRONMENT_STEPS, EXIT_ENVIRONMENT, READINESS_STEPS } from "../../contracts/readiness.ts";
import { type SelfTestCheck, type SelfTestReport, selfTestReport } from "../../contracts/self_test_report.ts";
import { boundedPostMortem } from "../core/post_mortem.ts";
import type { ProbeOutcome } from "../ports.ts";
import { lastLines } from "../process/output_lines.ts";
import type { RunOutcome } from "../process/run_bounded.ts";

type Failed = Extract<ProbeOutcome, { kind: "failed" }>;

/** What the candidate must be. */
export interface ProbeTarget {
  readonly version: string;
  readonly arch: Architecture;
}

/** systemd's word for an end, where it has one. */
function resultWord({ end, exitCode }: RunOutcome): string {
  if (end !== "exit") return end;
  return exitCode === 0 ? "success" : "exit-code";
}

function failed(
  run: RunOutcome,
  failureClass: Failed["failureClass"],
  reason: string,
  error: string,
  failedCheck?: SelfTestCheck,
): Failed {
  // A report that was read stands in `failedCheck`; only of one that was not is the text worth showing.
  const shown = run.stderr.byteLength > 0 ? run.stderr : run.stdout;
  return {
    kind: "failed",
    reason,
    error: bounded(error.toWellFormed()),
    failureClass,
    postMortem: boundedPostMortem({
      stage: "probe",
      result: resultWord(run),
      durationMs: run.durationMs,
      lastLines: lastLines(shown),
      ...(run.exitCode === undefined ? {} : { exitCode: run.exitCode }),
      ...(run.signal === undefined ? {} : { signal: run.signal }),
      ...(failedCheck === undefined
        ? {}
        : { failedCheck: { name: failedCheck.name, reason: failedCheck.reason ?? "no reason given" } }),
    }),
  };
}

function isEnvironment({ name, failureClass }: SelfTestCheck): boolean {
  if (failureClass !== undefined) return failureClass === "environment";
  const step = READINESS_STEPS.find((known) => known === name);
  return step !== undefined && ENVIRONMENT_STEPS.has(step);
}

function judgeReport(run: RunOutcome, report: SelfTestReport, target: ProbeTarget): ProbeOutcome {
  if (report.version !== target.version) {
    const error = `the candidate is version ${report.version}, the attempt wants ${target.version}`;
    return failed(run, "version", "VersionMismatch", error);
  }
  if (report.arch !== target.arch) {
    const error = `the candidate is built for ${report.arch}, this device is ${target.arch}`;
    return failed(run, "version", "ArchMismatch", error);
  }
  const bad = report.checks.filter(({ result }) => result === "failed");
  // The binary's own fault is the one to be shown, when both are there.
  const worst = bad.find((check) => !isEnvironment(check)) ?? bad[0];
  if (worst !== undefined) {
    const error = `self-test check ${worst.name} failed: ${worst.reason ?? "no reason given"}`;
    return isEnvironment(worst)
      ? failed(run, "environment", "EnvironmentUnavailable", error, worst)
      : failed(run, "version", "SelfTestFailed", error, worst);
  }
  if (!report.passed) {
    return failed(run, "version", "SelfTestFailed", "the self-test did not pass and names no failed check");
  }
  if (run.exitCode !== 0) {
    return failed(run, "version", "SelfTestFailed", `the self-test passed and then exited with ${run.exitCode}`);
  }
  return { kind: "passed" };
}

/**
 * Judges a self-test that was run.
 *
 * @param run How it ended
 * @param target What the candidate must be
 */
export function judgeProbe(run: RunOutcome, target: ProbeTarget): ProbeOutcome {
  switch (run.end) {
    case "canceled":
      return failed(run, "internal", "ProbeCanceled", "the updater is stopping");
    case "timeout":
      return failed(run, "version", "ProbeTimeout", `the self-test had not ended after ${run.durationMs} ms`);
    case "output":
      return failed(
        run,
        "version",
        "ProbeOutputTooLarge",
        `the self-test printed more than ${PROBE_OUTPUT_MAX_BYTES} bytes`,
      );
    case "signal":
      return failed(run, "version", "ProbeKilled", `the self-test ended by ${run.signal ?? "a signal"}`);
    case "exit":
      return judgeExit(run, target);
  }
}

function judgeExit(run: RunOutcome, target: ProbeTarget): ProbeOutcome {
  let report: SelfTestReport;
  try {
    report = decodeBytes(selfTestReport, run.stdout, SELF_TEST_REPORT_MAX_BYTES);
  } catch (error) {
    if (run.exitCode === EXIT_ENVIRONMENT) {
      const said = `the self-test exited with ${EXIT_ENVIRONMENT}: its surroundings are not there`;
      return failed(run, "environment", "EnvironmentUnavailable", said);
    }
    const problem = run.stdout.byteLength === 0 ? "there is none" : errorText(error);
    return failed(
      run,
      "version",
      "ReportInvalid",
      `the self-test exited with ${run.exitCode}, its report cannot be read: ${problem}`,
    );
  }
  return judgeReport(run, report, target);
}
