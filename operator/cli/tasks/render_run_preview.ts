/**
 * Texts about what a run would do.
 *
 * @module
 */
import type { Paint } from "../render/paint.ts";
import { age } from "../render/age.ts";
import type { RunPreview } from "./run_preview.ts";

/** Devices that a preview names; all of them are counted. */
const NAMED_MAX = 10;

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/**
 * The preview of a run, a line each.
 *
 * @param preview The preview
 * @param paint Colours
 */
export function renderRunPreview(preview: RunPreview, paint: Paint): string {
  return previewLines(preview, paint).map((line) => `  ${line}\n`).join("");
}

function previewLines(preview: RunPreview, paint: Paint): string[] {
  const { canaries, incapable, offline, targets, unauthorized } = preview;
  const lines = [paint(`targets ${count(targets, "device")}${namesText(preview)}`, targets === 0 ? "bad" : undefined)];
  if (targets > 0) lines.push(wavesLine(preview, paint));
  if (offline > 0) {
    lines.push(paint(`offline ${count(offline, "target")}: late when not back and done by the deadline`, "busy"));
  }
  if (incapable > 0) {
    lines.push(`left out ${count(incapable, "device")}: incapable, the updater has no AptFullUpgradeV1`);
  }
  if (unauthorized > 0) lines.push(`left out ${count(unauthorized, "device")}: unauthorized, in no allowed group`);
  if (targets === 0) return [...lines, "the run would fail with NoTargets"];
  return [
    ...lines,
    "each upgrades every package, keeps changed configuration files, and reboots where anything changed or is due",
    `deadline ${age(preview.deadlineSeconds * 1_000)} after its creation${canaries > 0 ? ", for both waves" : ""}`,
    "it starts at once and cannot be canceled; deleting it withdraws what no device has accepted yet",
  ];
}

function namesText({ devices }: RunPreview): string {
  if (devices.length === 0) return "";
  const named = devices.slice(0, NAMED_MAX).join(", ");
  return `: ${named}${devices.length > NAMED_MAX ? ", …" : ""}`;
}

function wavesLine({ canaries, targets }: RunPreview, paint: Paint): string {
  if (canaries === 0) {
    const all = targets === 1 ? "it upgrades and reboots" : `all ${targets} upgrade and reboot`;
    return paint(`NO CANARIES: no target has the label canary=true, so that ${all} at once`, "bad");
  }
  if (canaries === targets) return `canaries ${canaries}: all targets are canaries, and go at once`;
  const others = count(targets - canaries, "other");
  return paint(`canaries ${canaries} first; the ${others} go at once when every canary has succeeded`, "good");
}
