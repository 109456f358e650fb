/**
 * Tables of runs.
 *
 * @module
 */
import type { TaskRun, TaskRunPhase } from "../../../contracts/task_run.ts";
import { age, ageOf } from "../render/age.ts";
import type { Tone } from "../render/paint.ts";
import type { Cell, Column } from "../render/table.ts";

const NONE: Cell = { text: "-", tone: "faint" };

const TONES: Readonly<Record<TaskRunPhase, Tone>> = {
  Planning: "faint",
  Running: "busy",
  Complete: "good",
  Failed: "bad",
};

/** The phase of a run, with its colour; a run that the operator has not looked at is being planned. */
export function phaseCell({ status }: TaskRun): Cell {
  const phase = status?.phase ?? "Planning";
  return { text: phase, tone: TONES[phase] };
}

function deadlineCell({ status }: TaskRun, nowMs: number): Cell | string {
  if (status === undefined || status.completedAt !== undefined || status.expiresAt === undefined) return NONE;
  const leftMs = Date.parse(status.expiresAt) - nowMs;
  return leftMs > 0 ? age(leftMs) : { text: "passed", tone: "bad" };
}

/**
 * Columns of `fleetctl get tasks`.
 *
 * @param nowMs The present by the broker's clock, in ms since the epoch
 */
export function taskColumns(nowMs: number): readonly Column<TaskRun>[] {
  return [
    { title: "NAME", cell: ({ metadata }) => metadata.name },
    { title: "PHASE", cell: phaseCell },
    { title: "REASON", cell: ({ status }) => status?.reason ?? NONE },
    {
      title: "DONE",
      align: "right",
      cell: ({ status }) => status === undefined ? NONE : `${status.succeeded}/${status.targets}`,
    },
    {
      title: "FAILED",
      align: "right",
      cell: ({ status }) => {
        if (status === undefined) return NONE;
        return status.failed === 0 ? "0" : { text: String(status.failed), tone: "bad" };
      },
    },
    { title: "LEFT", cell: (run) => deadlineCell(run, nowMs) },
    {
      title: "LAST ERROR",
      cuttable: true,
      cell: ({ status }) => status?.lastError === undefined ? NONE : { text: status.lastError, tone: "bad" },
    },
    { title: "AGE", cell: ({ metadata }) => ageOf(metadata.creationTimestamp, nowMs) },
  ];
}
