/**
 * Tables of releases.
 *
 * @module
 */
import type { AgentRelease } from "../../../contracts/agent_release.ts";
import { ageOf } from "../render/age.ts";
import type { Cell, Column } from "../render/table.ts";
import { problemText, releaseState, releaseTone } from "./release_state.ts";

const NONE: Cell = { text: "-", tone: "faint" };

/**
 * Columns of `fleetctl get releases`.
 *
 * @param nowMs The present by the broker's clock, in ms since the epoch
 */
export function releaseColumns(nowMs: number): readonly Column<AgentRelease>[] {
  return [
    { title: "NAME", cell: ({ metadata }) => metadata.name },
    { title: "VERSION", cell: ({ spec }) => spec.version },
    { title: "REV", align: "right", cell: ({ spec }) => String(spec.revision) },
    { title: "PRIORITY", align: "right", cell: ({ spec }) => String(spec.priority) },
    {
      title: "STATE",
      cell: (release) => {
        const state = releaseState(release);
        return { text: state, tone: releaseTone(state) };
      },
    },
    {
      title: "CURRENT",
      align: "right",
      cell: ({ status }) => status === undefined ? NONE : `${status.current}/${status.targets}`,
    },
    {
      title: "UPGRADING",
      align: "right",
      cell: ({ status }) => status === undefined ? NONE : String(status.upgrading),
    },
    {
      title: "PROBLEMS",
      cuttable: true,
      cell: ({ status }) => {
        const text = status === undefined ? "" : problemText(status);
        return text === "" ? NONE : { text, tone: "bad" };
      },
    },
    { title: "AGE", cell: ({ metadata }) => ageOf(metadata.creationTimestamp, nowMs) },
  ];
}
