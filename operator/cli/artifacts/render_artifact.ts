/**
 * Shows what was pushed or found, for people and for programs. Pure.
 *
 * @module
 */
import type { ReleaseArtifact } from "../../../contracts/agent_release.ts";
import { type Field, renderFields } from "../render/fields.ts";
import { byteSize } from "../render/byte_size.ts";
import { printable } from "../render/printable.ts";
import { type Column, type Layout, renderTable } from "../render/table.ts";
import type { InspectedAgent, Inspection } from "./inspect_artifact.ts";
import type { PushPlan } from "./push_plan.ts";
import type { PushResult } from "./push_artifact.ts";
import { releaseEntry } from "./release_entry.ts";

/** The agents that a device would take, as a release names them. */
export function releaseArtifacts(agents: readonly InspectedAgent[]): ReleaseArtifact[] {
  return agents.flatMap(({ arch, form, url, sha256, sizeBytes, problem }) =>
    problem !== undefined || form === undefined || sha256 === undefined || sizeBytes === undefined
      ? []
      : [{ arch, form, url, sha256, maxBytes: sizeBytes }]
  );
}

/** What is wrong with the whole; undefined when a device would take every agent. */
export function inspectionProblem({ kind, agents }: Inspection): string | undefined {
  if (agents.length === 0) return `the ${kind} has no agent for any architecture`;
  const refused = agents.filter(({ problem }) => problem !== undefined).map(({ arch }) => arch);
  return refused.length === 0 ? undefined : `a device of ${refused.join(" or ")} would refuse it`;
}

const COLUMNS: readonly Column<InspectedAgent>[] = [
  { title: "ARCH", cell: ({ arch }) => arch },
  { title: "FORM", cell: ({ form = "-" }) => form },
  { title: "VERSION", cell: ({ version = "-" }) => version },
  { title: "SIZE", align: "right", cell: ({ sizeBytes }) => sizeBytes === undefined ? "-" : byteSize(sizeBytes) },
  {
    title: "DEVICE",
    cell: ({ problem }) =>
      problem === undefined ? { text: "takes it", tone: "good" } : { text: "refuses it", tone: "bad" },
  },
  { title: "SHA256", cell: ({ sha256 = "-" }) => sha256 },
];

/**
 * An inspection as text, ending with what a release should say.
 *
 * @param reference What was inspected
 * @param inspection What was found
 * @param layout Terminal
 */
export function renderInspection(reference: string, inspection: Inspection, layout: Layout): string {
  const { kind, digest, mediaType, agents } = inspection;
  const fields: Field[] = [
    ["Artifact", reference],
    ["Kind", kind],
    ["Digest", digest],
    ["Media type", mediaType],
    ["Layer", agents.find((agent) => agent.mediaType !== undefined)?.mediaType],
  ];
  const problems = agents.flatMap(({ arch, problem }) =>
    problem === undefined ? [] : [`  ${arch}: ${printable(problem)}\n`]
  );
  const table = agents.length === 0 ? "" : `\n${renderTable(COLUMNS, agents, layout)}`;
  const why = problems.length === 0
    ? ""
    : `\n${layout.paint("Why a device refuses it:", "strong")}\n${problems.join("")}`;
  return renderFields(fields, layout.paint) + table + why + entryText(releaseArtifacts(agents), layout);
}

function entryText(artifacts: readonly ReleaseArtifact[], { paint }: Layout): string {
  if (artifacts.length === 0) return "";
  return `\n${paint("In the spec of an AgentRelease:", "strong")}\n\n${releaseEntry(artifacts)}`;
}

/** What a push has put where. */
export interface Pushed {
  readonly reference: string;
  readonly version: string;
  readonly plan: PushPlan;
  readonly result: PushResult;
  /** As a release names them. */
  readonly artifacts: readonly ReleaseArtifact[];
}

/**
 * A push as text, ending with what a release should say.
 *
 * @param pushed What was pushed
 * @param layout Terminal
 */
export function renderPushed({ reference, version, plan, result, artifacts }: Pushed, layout: Layout): string {
  const rows: readonly Column<PushPlan["agents"][number]>[] = [
    { title: "ARCH", cell: ({ arch }) => arch },
    { title: "FORM", cell: ({ form }) => form },
    { title: "SIZE", align: "right", cell: ({ file }) => byteSize(file.sizeBytes) },
    { title: "BYTES", cell: ({ file }) => result.sent.has(file.sha256) ? "sent" : "were there" },
    { title: "FILE", cell: ({ file }) => file.path, cuttable: true },
  ];
  const fields: Field[] = [
    ["Pushed", result.unchanged ? `${reference} (it was there)` : reference],
    ["Digest", result.digest],
    ["Media type", plan.top.mediaType],
    ["Version", version],
  ];
  return `${renderFields(fields, layout.paint)}\n${renderTable(rows, plan.agents, layout)}${
    entryText(artifacts, layout)
  }`;
}
