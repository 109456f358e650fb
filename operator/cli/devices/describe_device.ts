/**
 * Describes a device for the person on call: who it is, how it is, its upgrade step by step, what to do next.
 *
 * @module
 */
import type { AgentUpgradeStatus, PostMortem } from "../../../contracts/agent_upgrade.ts";
import type { Device, DeviceStatus } from "../../../contracts/device_resource.ts";
import type { Advice } from "../advice.ts";
import { age, duration, instantWithAge } from "../render/age.ts";
import { byteSize } from "../render/byte_size.ts";
import { type Field, renderAdvice, renderFields } from "../render/fields.ts";
import type { Paint } from "../render/paint.ts";
import { indented, renderConditions } from "../render/conditions.ts";
import { printable } from "../render/printable.ts";
import { renderTable } from "../render/table.ts";
import { type Described, described } from "./described.ts";
import { deploymentDescriptions, type DescribedDeployment, renderDeployments } from "./describe_deployments.ts";
import { deviceAdvice } from "./device_advice.ts";
import { deviceReason, deviceState, livenessCell, phaseTone } from "./device_state.ts";
import type { DeviceView } from "./device_view.ts";

/** A description for programs: the resource, what the device reports itself, and what to do next. */
export interface DeviceDescription {
  readonly device: Device;
  readonly heartbeat: Described;
  readonly upgradeStatus: Described;
  readonly upgradeIntent: Described;
  /** In order of their UIDs. */
  readonly deployments: readonly DescribedDeployment[];
  readonly advice: readonly Advice[];
}

/**
 * The description as data.
 *
 * @param view Everything that is known
 */
export function deviceDescription(view: DeviceView): DeviceDescription {
  return {
    device: view.device,
    heartbeat: described(view.heartbeat, view.nowMs),
    upgradeStatus: described(view.upgradeStatus, view.nowMs),
    upgradeIntent: described(view.upgradeIntent, view.nowMs),
    deployments: deploymentDescriptions(view),
    advice: deviceAdvice(view),
  };
}

/**
 * The description as text.
 *
 * @param view Everything that is known
 * @param paint Colours
 */
export function renderDevice(view: DeviceView, paint: Paint): string {
  const { device } = view;
  const { status } = device;
  return renderFields([...identityFields(view), ...livenessFields(view), ...releaseFields(status)], paint) +
    renderUpgrade(view, paint) +
    renderDeployments(view, paint) +
    renderConditions(status?.conditions ?? [], view.nowMs, paint) +
    renderAdvice(deviceAdvice(view), paint);
}

function identityFields({ device, nowMs }: DeviceView): Field[] {
  const { metadata, spec, status } = device;
  const labels = Object.entries(metadata.labels ?? {}).map(([label, value]) => `${label}=${value}`);
  const { agentVersion, form, arch, step, os, updaterVersion, capabilities = [] } = status ?? {};
  const agent = [agentVersion, form, arch].filter((part) => part !== undefined).join(" ");
  return [
    ["Name", metadata.name],
    ["Labels", labels.join(", ")],
    ["Groups", spec.groups.length === 0 ? { text: "none", tone: "busy" } : spec.groups.join(", ")],
    ["Created", instantWithAge(metadata.creationTimestamp, nowMs)],
    ["Agent", agent === "" ? "unknown" : agent + (step === undefined ? "" : `, waits at step ${step}`)],
    [
      "Updater",
      updaterVersion === undefined
        ? (status === undefined ? undefined : { text: "cannot be reached", tone: "bad" })
        : `${updaterVersion} (${capabilities.join(", ")})`,
    ],
    ["System", os === undefined ? undefined : `${os.name} ${os.version}, kernel ${os.kernel}`],
  ];
}

function livenessFields({ device, heartbeat, nowMs }: DeviceView): Field[] {
  const { status } = device;
  const since = status === undefined ? "" : ` since ${instantWithAge(status.livenessSince, nowMs)}`;
  const cell = livenessCell(status);
  const fields: Field[] = [["Liveness", { text: cell.text + since, tone: cell.tone }]];
  if (heartbeat.kind === "absent") return [...fields, ["Heartbeat", "none since the broker started"]];
  if (heartbeat.kind === "unavailable") return [...fields, ["Heartbeat", `cannot be read: ${heartbeat.problem}`]];
  const seen = `${age(nowMs - heartbeat.receivedAtMs)} ago`;
  if (heartbeat.kind === "unreadable") return [...fields, ["Heartbeat", `${seen}, not readable: ${heartbeat.problem}`]];
  const { sequence, uptimeMs, vitals, blocked, deferred } = heartbeat.value;
  const { freeBytes, binariesBytes, clockSkewMs, restarts, rssBytes, credentialsExpireAt } = vitals;
  const disks = Object.entries(freeBytes).map(([mount, free]) => `${mount} ${byteSize(free)}`);
  const skew = clockSkewMs === undefined
    ? undefined
    : `${clockSkewMs < 0 ? "-" : "+"}${duration(Math.abs(clockSkewMs))}`;
  return [
    ...fields,
    ["Heartbeat", `${seen}, number ${sequence}, agent up ${age(uptimeMs)}`],
    ["Free", disks.length === 0 ? undefined : disks.join(", ")],
    ["Binaries", binariesBytes === undefined ? undefined : byteSize(binariesBytes)],
    ["Memory", rssBytes === undefined ? undefined : byteSize(rssBytes)],
    ["Clock", skew === undefined ? undefined : `${skew} against the server`],
    ["Restarts", restarts === undefined ? undefined : String(restarts)],
    ["Credentials", credentialsExpireAt === undefined ? undefined : `until ${credentialsExpireAt}`],
    ["Blocked", blocked === undefined ? undefined : { text: blocked, tone: "bad" }],
    [
      "Deferred",
      deferred === undefined ? undefined : `attempt ${deferred.attemptId}, ${deferred.reason} since ${deferred.since}`,
    ],
  ];
}

function releaseFields(status: DeviceStatus | undefined): Field[] {
  if (status === undefined) return [];
  const { desiredRelease, failedIdentities } = status;
  const state = deviceState(status);
  const why = deviceReason(status);
  return [
    ["Release", desiredRelease ?? "none"],
    ["State", { text: why === "" ? state.text : `${state.text} (${why})`, tone: state.tone }],
    ["Failed before", failedIdentities.length === 0 ? undefined : failedText(failedIdentities.length)],
  ];
}

function renderUpgrade(view: DeviceView, paint: Paint): string {
  const { upgradeStatus, upgradeIntent, nowMs } = view;
  const intent = waitingIntent(view);
  const head = `\n${paint("Upgrade:", "strong")}\n`;
  if (upgradeStatus.kind === "unavailable") {
    return head + renderFields([["Status", `cannot be read: ${upgradeStatus.problem}`]], paint, "  ");
  }
  if (upgradeStatus.kind === "unreadable") {
    return head + renderFields([["Status", `not readable: ${upgradeStatus.problem}`]], paint, "  ");
  }
  if (upgradeStatus.kind === "absent") {
    if (intent === undefined && upgradeIntent.kind !== "unreadable") return "";
    return head + renderFields([["Waiting", intent ?? "an intent that cannot be read"]], paint, "  ");
  }
  const { value } = upgradeStatus;
  return head + renderFields([...upgradeFields(value, nowMs), ["Waiting", intent]], paint, "  ") +
    renderTransitions(value, paint) + renderPostMortem(value.postMortem, paint);
}

/** An intent that the device has not answered. */
function waitingIntent({ upgradeIntent, upgradeStatus, nowMs }: DeviceView): string | undefined {
  if (upgradeIntent.kind !== "value") return undefined;
  const { attemptId, targetVersion } = upgradeIntent.value;
  if (upgradeStatus.kind === "value" && upgradeStatus.value.attemptId === attemptId) return undefined;
  return `attempt ${attemptId} for ${targetVersion}, written ${age(nowMs - upgradeIntent.receivedAtMs)} ago`;
}

function upgradeFields(status: AgentUpgradeStatus, nowMs: number): Field[] {
  const { phase, reason, failureClass, targetVersion, attemptId, rejectedRevision, drainMs } = status;
  const why = [reason, failureClass === undefined ? undefined : `class ${failureClass}`].filter((part) =>
    part !== undefined
  );
  return [
    ["Phase", { text: why.length === 0 ? phase : `${phase} (${why.join(", ")})`, tone: phaseTone(phase) }],
    ["Target", targetVersion],
    ["Attempt", attemptId ?? (rejectedRevision === undefined ? undefined : `intent of revision ${rejectedRevision}`)],
    ["Started", instantWithAge(status.startedAt, nowMs)],
    ["Updated", instantWithAge(status.updatedAt, nowMs)],
    ["Drained in", drainMs === undefined ? undefined : duration(drainMs)],
    ["Detail", status.detail === "" ? undefined : status.detail],
    ["Error", status.error === undefined ? undefined : { text: status.error, tone: "bad" }],
    ["Journal", status.journalUnit === undefined ? undefined : journalCommand(status)],
  ];
}

function journalCommand({ journalUnit, invocationId }: AgentUpgradeStatus): string {
  const invocation = invocationId === undefined ? "" : ` _SYSTEMD_INVOCATION_ID=${invocationId}`;
  return `journalctl -u ${journalUnit}${invocation}`;
}

function renderTransitions({ transitions }: AgentUpgradeStatus, paint: Paint): string {
  if (transitions.length === 0) return "";
  const rows = transitions.map(({ phase, at, code }, index) => {
    const before = transitions[index - 1];
    return { phase, at, code, afterMs: before === undefined ? undefined : Date.parse(at) - Date.parse(before.at) };
  });
  const table = renderTable(
    [
      { title: "AT", cell: ({ at }) => at },
      { title: "AFTER", align: "right", cell: ({ afterMs }) => afterMs === undefined ? "" : duration(afterMs) },
      { title: "PHASE", cell: ({ phase }) => ({ text: phase, tone: phaseTone(phase) }) },
      { title: "CODE", cell: ({ code }) => code ?? "" },
    ],
    rows,
    { width: null, paint },
  );
  return indented(table, "    ");
}

function renderPostMortem(postMortem: PostMortem | undefined, paint: Paint): string {
  if (postMortem === undefined) return "";
  const { stage, result, exitCode, signal, statusText, failedCheck, lastLines = [], durationMs, unit } = postMortem;
  const ended = [
    result,
    exitCode === undefined ? undefined : `exit code ${exitCode}`,
    signal === undefined ? undefined : `signal ${signal}`,
    durationMs === undefined ? undefined : `after ${duration(durationMs)}`,
  ].filter((part) => part !== undefined);
  const fields = renderFields(
    [
      ["Ended at", stage === "probe" ? "its self-test" : "its start"],
      ["Result", ended.join(", ")],
      ["Said", statusText],
      ["Check", failedCheck === undefined ? undefined : `${failedCheck.name}: ${failedCheck.reason}`],
      ["Unit", unit],
    ],
    paint,
    "    ",
  );
  const lines = lastLines.length === 0 ? "" : renderFields([["Last lines", ""]], paint, "    ") +
    lastLines.map((line) => `      ${printable(line)}\n`).join("");
  return `  ${paint("Post-mortem:", "strong")}\n${fields}${lines}`;
}

function failedText(count: number): string {
  return `${count} ${count === 1 ? "identity" : "identities"} of releases, not tried again`;
}
