/**
 * The updater's state for a person: what runs, why it stands where it stands, and what to do next.
 *
 * @module
 */
import type { AgentUpgradeStatus, PostMortem } from "../../contracts/agent_upgrade.ts";
import type { SystemUpgradeStatus, SystemUpgradeSummary } from "../../contracts/system_upgrade.ts";
import type { UpdaterState } from "../../contracts/updater_protocol.ts";
import type { RepairReport } from "../repair/repair_protocol.ts";

/**
 * Lines about the updater and its transaction.
 *
 * @param state The updater's state
 */
export function renderState(state: UpdaterState): string {
  const { systemUpgrade, ledgerProblem } = state;
  return [
    `updater    ${state.updaterVersion} (${state.capabilities.join(", ")})`,
    ...agentUpgradeLines(state),
    ...(systemUpgrade === undefined ? [] : systemUpgradeLines(systemUpgrade)),
    ...(ledgerProblem === undefined ? [] : [
      `ledger     ${ledgerProblem}`,
      "next       stop the updater, run `fleet-updater repair --renew-ledger` as root, start it: until then the device " +
      "refuses system upgrades",
    ]),
  ].join("\n");
}

function agentUpgradeLines(state: UpdaterState): string[] {
  const { transaction } = state;
  if (transaction === null) return ["upgrade    none yet"];
  const { status } = transaction;
  return [
    `upgrade    to ${transaction.targetVersion}: ${status.phase} since ${status.updatedAt}`,
    `attempt    ${transaction.attemptId}`,
    `previous   ${transaction.previousPath}`,
    `target     ${transaction.targetPath}`,
    ...findingLines(status),
    ...(status.postMortem === undefined ? [] : postMortemLines(status.postMortem)),
    "history",
    ...status.transitions.map(({ at, phase, code }) => `  ${at}  ${phase}${code === undefined ? "" : ` (${code})`}`),
    `next       ${nextStep(state)}`,
  ];
}

function systemUpgradeLines(status: SystemUpgradeStatus): string[] {
  const { phase, reason, failureClass, error, detail, failedCommand, journalUnit, summary } = status;
  const ended = failedCommand?.timedOut === true ? "timed out" : failedCommand?.signal ??
    (failedCommand?.exitCode === undefined ? "failed" : `exit code ${failedCommand.exitCode}`);
  return [
    `system     ${phase} since ${status.updatedAt}${reason === undefined ? "" : ` (${reason})`}`,
    `run        ${status.runId}`,
    ...(error === undefined ? [] : [`error      ${failureClass ?? "internal"}: ${error}`]),
    ...(detail === undefined ? [] : [`detail     ${detail}`]),
    ...(failedCommand === undefined ? [] : [`command    ${failedCommand.command}: ${ended}`]),
    ...(failedCommand?.lastLines ?? []).map((line) => `  | ${line}`),
    ...(summary === undefined ? [] : [`packages   ${packageCounts(summary)}`]),
    ...(journalUnit === undefined ? [] : [`log        journalctl -u ${journalUnit}`]),
  ];
}

function packageCounts(summary: SystemUpgradeSummary): string {
  const { upgraded, installed, removed, kept } = summary;
  const counts = Object.entries({ upgraded, installed, removed, kept }).flatMap(([what, group]) =>
    group === undefined ? [] : [`${group.count} ${what}`]
  );
  return counts.length === 0 ? "none looked at yet" : counts.join(", ");
}

function findingLines({ reason, failureClass, error, detail }: AgentUpgradeStatus): string[] {
  return [
    ...(reason === undefined ? [] : [`reason     ${reason} (${failureClass ?? "internal"}): ${error ?? ""}`]),
    ...(detail === undefined ? [] : [`detail     ${detail}`]),
  ];
}

function postMortemLines(
  { stage, result, exitCode, signal, statusText, failedCheck, lastLines = [] }: PostMortem,
): string[] {
  const how = exitCode !== undefined ? `, exit code ${exitCode}` : signal !== undefined ? `, ${signal}` : "";
  return [
    `candidate  ended at its ${stage}: ${result}${how}`,
    ...(statusText === undefined ? [] : [`  last status   ${statusText}`]),
    ...(failedCheck === undefined ? [] : [`  failed check  ${failedCheck.name}: ${failedCheck.reason}`]),
    ...lastLines.map((line) => `  | ${line}`),
  ];
}

/** What the person on call does now; the runbooks are in `docs/operations.md`. */
function nextStep({ quarantined, transaction }: UpdaterState): string {
  if (quarantined) return "run `fleet-updater repair` as root: the device refuses every attempt until then";
  switch (transaction?.status.phase) {
    case undefined:
    case "complete":
      return "nothing";
    case "failed":
      return "nothing here: the previous agent runs; a new release, or `fleetctl release retry`, brings another attempt";
    case "rolling-back":
      return "wait: stop and start of the previous agent are repeated until it is ready";
    default:
      return "wait";
  }
}

/**
 * Everything that root looks at before a repair.
 *
 * @param report What the live updater reported
 */
export function renderReport(report: RepairReport): string {
  const { selectedPath, binaries, moreBinaries, service, state } = report;
  return [
    renderState(state),
    `selected   ${selectedPath ?? "nothing: the link is not there"}`,
    `service    ${service.unit}: ${service.active}, ${service.restarts} restarts` +
    (service.statusText === undefined ? "" : `, ${service.statusText}`),
    "installed",
    ...binaries.map(({ version, path, sizeBytes }) => `  ${version.padEnd(20)} ${sizeBytes} bytes  ${path}`),
    ...(moreBinaries > 0 ? [`  and ${moreBinaries} more`] : []),
  ].join("\n");
}
