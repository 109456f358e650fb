/**
 * What the person on call does next about a run.
 *
 * @module
 */
import type { TaskRun, TaskRunReason } from "../../../contracts/task_run.ts";
import type { Advice } from "../advice.ts";
import { selectorFlags } from "../render/selector.ts";

/** Ways on from each reason that is not well. A run never advances again: what is left is another run. */
const ADVICE: Readonly<Partial<Record<TaskRunReason, (run: TaskRun) => Omit<Advice, "code">>>> = {
  WaitingForGroups: () => ({
    problem: "Who is authorized cannot be read, so that nothing is planned; it is tried again until the deadline",
    steps: ["mend the source of groups that the error names"],
  }),
  PlanNotWritten: () => ({
    problem: "The plan could not be written; it is tried again until the deadline",
    steps: ["look at the log of fleet-operator, and at the free bytes of NATS"],
  }),
  NoTargets: ({ spec }) => ({
    problem: "No authorized device with the capability AptFullUpgradeV1 matched when it was planned",
    steps: [
      `compare allowedGroups and targetSelector with the devices: fleetctl get devices${
        selectorFlags(spec.targetSelector.matchLabels ?? {})
      }`,
      "a device whose updater is too old is set up again with install.sh",
    ],
  }),
  TooManyTargets: () => ({
    problem: "More devices matched than one plan holds",
    steps: ["make several runs with narrower selectors"],
  }),
  TargetRevoked: () => ({
    problem: "A target lost its authorization before its release; nobody takes its place in a frozen plan",
    steps: ["decide whether the device belongs to the groups", "make another run"],
  }),
  CanaryFailed: (run) => ({
    problem: "A canary failed, so that the others were not released; what is done is not undone",
    steps: [list(run, "failed"), "mend what the reason says on the canary", "make another run"],
  }),
  CanaryTimedOut: (run) => ({
    problem: "A canary had not succeeded by the deadline, so that the others were not released",
    steps: [
      `${list(run, "failed")}   # STATE says whether it never answered, or is late`,
      "make another run, with more time if it was slow",
    ],
  }),
  DevicesFailed: (run) => ({
    problem: "Devices failed; those that succeeded are not touched again",
    steps: [list(run, "failed"), "mend what the reasons say", "make another run: done devices find nothing to do"],
  }),
  DeadlineExceeded: (run) => ({
    problem:
      "Not every target had ended by the deadline; those that have accepted it go on, and their results are late",
    steps: [
      `${list(run, "failed")}   # STATE says who never answered, and who is late`,
      "is fleet-operator running, when nothing was planned?",
      "make another run",
    ],
  }),
  PlanLost: () => ({
    problem: "The frozen plan cannot be read back, and nobody may guess its targets",
    steps: ["was the bucket task-plan lost, or restored from a backup?", "make another run"],
  }),
};

function list({ metadata }: TaskRun, phase: string): string {
  return `fleetctl task devices ${metadata.name} --phase ${phase}`;
}

/**
 * Lists what is not well about a run; empty when there is nothing to do.
 *
 * @param run The run
 */
export function taskAdvice(run: TaskRun): Advice[] {
  const { status } = run;
  if (status === undefined) {
    return [{
      code: "NoStatus",
      problem: "The operator has not looked at it yet",
      steps: ["is fleet-operator running? it plans a run within seconds"],
    }];
  }
  const { reason } = status;
  const found = reason === undefined ? undefined : ADVICE[reason]?.(run);
  return reason === undefined || found === undefined ? [] : [{ code: reason, ...found }];
}
