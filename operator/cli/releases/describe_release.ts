/**
 * Describes a release: what it says, how far it has come, what to do next.
 *
 * @module
 */
import type { AgentRelease } from "../../../contracts/agent_release.ts";
import type { Advice } from "../advice.ts";
import { instantWithAge } from "../render/age.ts";
import { byteSize } from "../render/byte_size.ts";
import { indented, renderConditions } from "../render/conditions.ts";
import { type Field, renderAdvice, renderFields } from "../render/fields.ts";
import type { Paint } from "../render/paint.ts";
import { labelsText } from "../render/selector.ts";
import { type NamedCount, renderTargetCounts } from "../render/target_counts.ts";
import { renderTable } from "../render/table.ts";
import { releaseAdvice } from "./release_advice.ts";
import { pendingCount, releaseState, releaseTone } from "./release_state.ts";

/** A description for programs. */
export interface ReleaseDescription {
  readonly release: AgentRelease;
  readonly state: string;
  readonly advice: readonly Advice[];
}

/** The description as data. */
export function releaseDescription(release: AgentRelease): ReleaseDescription {
  return { release, state: releaseState(release), advice: releaseAdvice(release) };
}

/**
 * The description as text.
 *
 * @param release The release
 * @param nowMs The present by the broker's clock, in ms since the epoch
 * @param paint Colours
 */
export function renderRelease(release: AgentRelease, nowMs: number, paint: Paint): string {
  return renderFields(specFields(release, nowMs), paint) +
    renderArtifacts(release, paint) +
    renderCounts(release, paint) +
    renderConditions(release.status?.conditions ?? [], nowMs, paint) +
    renderAdvice(releaseAdvice(release), paint);
}

function specFields(release: AgentRelease, nowMs: number): Field[] {
  const { metadata, spec, status } = release;
  const selector = labelsText(spec.targetSelector.matchLabels ?? {});
  const labels = labelsText(metadata.labels ?? {});
  const state = releaseState(release);
  return [
    ["Name", metadata.name],
    ["Labels", labels === "" ? undefined : labels],
    ["Created", instantWithAge(metadata.creationTimestamp, nowMs)],
    ["Version", spec.version],
    ["Revision", String(spec.revision)],
    ["Priority", String(spec.priority)],
    ["Groups", spec.allowedGroups.join(", ")],
    ["Selector", selector === "" ? "every device of the groups" : selector],
    ["State", { text: state, tone: releaseTone(state) }],
    ["Paused", spec.paused ? { text: "yes", tone: "busy" } : "no"],
    ["Last error", status?.lastError === undefined ? undefined : { text: status.lastError, tone: "bad" }],
  ];
}

function renderArtifacts({ spec }: AgentRelease, paint: Paint): string {
  const table = renderTable(
    [
      { title: "ARCH", cell: ({ arch }) => arch },
      { title: "FORM", cell: ({ form }) => form },
      { title: "MAX", align: "right", cell: ({ maxBytes }) => byteSize(maxBytes) },
      { title: "SHA-256", cell: ({ sha256 }) => sha256 },
      { title: "URL", cell: ({ url }) => url },
    ],
    spec.artifacts,
    { width: null, paint },
  );
  return `\n${paint("Artifacts:", "strong")}\n${indented(table, "  ")}`;
}

function renderCounts({ metadata, status }: AgentRelease, paint: Paint): string {
  if (status === undefined) return "";
  const { targets, current, upgrading, failed, rolledBack, quarantined, lost, ineligible } = status;
  const counts: readonly NamedCount[] = [
    ["targets", targets],
    ["current", current, "good"],
    ["upgrading", upgrading, "busy"],
    ["pending", pendingCount(status), "busy"],
    ["failed", failed, "bad"],
    ["rolled-back", rolledBack, "bad"],
    ["quarantined", quarantined, "bad"],
    ["lost", lost, "bad"],
    ["ineligible", ineligible, "bad"],
  ];
  return renderTargetCounts(counts, `fleetctl release devices ${metadata.name}`, paint);
}
