/**
 * Adds `fleetctl task` to the command line.
 *
 * @module
 */
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { isFleetError } from "../../../contracts/errors.ts";
import { reason as reasonFormat } from "../../../contracts/formats.ts";
import { TASK_DEADLINE_MAX_S, TASK_DEADLINE_MIN_S } from "../../../contracts/limits.ts";
import { taskRunSpec } from "../../../contracts/task_run.ts";
import { addDevicesBehind, behindOptions, optionsOf, outputOption, selectorOption } from "../command_options.ts";
import { checkedName, collect, selectorOf, targetOf, texts } from "../command_arguments.ts";
import {
  type Invocation,
  OUTPUT_FORMATS,
  type OutputFormat,
  TASK_PHASE_NAMES,
  type TaskPhaseName,
} from "../invocation.ts";
import { parseSpanSeconds } from "./parse_span.ts";
import { TASK_EXAMPLES } from "./task_help.ts";

/** Deadline of a run that names none: a night. */
const DEADLINE_DEFAULT = "6h";

type Found = (invocation: Invocation) => void;

/**
 * Adds the commands.
 *
 * @param root The program
 * @param found Told what a line asks for
 */
export function addTask(root: Command, found: Found): void {
  const task = root.command("task")
    .description("upgrade the operating system of a set of devices, canaries first")
    .addHelpText("after", TASK_EXAMPLES.task);
  addRun(task, found);
  for (const name of ["get", "watch"] as const) {
    const formats = name === "get" ? OUTPUT_FORMATS : (["table", "json", "name"] as const);
    const text = name === "get" ? "list tasks, as fleetctl get tasks" : "list them, then print every change";
    task.command(name).description(text)
      .addArgument(new Argument("[names...]", "names; all when there are none"))
      .addOption(selectorOption()).addOption(outputOption(formats))
      .addHelpText("after", TASK_EXAMPLES[name])
      .action((names: string[], _options, command: Command) => {
        const options = optionsOf(command);
        const target = targetOf(command, "task", names);
        const selector = selectorOf(command, options.selector);
        found({ command: name, ...target, selector, output: options.output as OutputFormat });
      });
  }
  addDevicesBehind(task, "TaskRun", TASK_PHASE_NAMES)
    .addOption(new Option("--reason <reason>", "only those that ended for this reason").argParser(reasonOf))
    .addHelpText("after", TASK_EXAMPLES.devices)
    .action((name: string, _options, command: Command) => {
      const { phase, ...rest } = behindOptions(command, "TaskRun", name);
      const { reason } = optionsOf(command);
      found({
        command: "task-devices",
        phase: phase as TaskPhaseName,
        ...rest,
        ...(typeof reason === "string" ? { reason } : {}),
      });
    });
}

function addRun(task: Command, found: Found): void {
  task.command("run").description("start a system upgrade")
    .addArgument(new Argument("<name>", "name of the new task"))
    .addOption(
      new Option("--group <group>", "group that authorizes devices; at least one, repeatable").argParser(collect),
    )
    .addOption(selectorOption())
    .addOption(
      new Option("--deadline <span>", "by when every device must be done, such as 90m, 6h or 2d; from 60s to 7d")
        .default(DEADLINE_DEFAULT).argParser(deadlineOf),
    )
    .option("--dry-run", "print the targets, canaries, who is away or left out, and what would be done; start nothing")
    .option("--yes", "do not ask")
    .addOption(outputOption(["table", "json"]))
    .addHelpText("after", TASK_EXAMPLES.run)
    .action((name: string, _options, command: Command) => {
      const options = optionsOf(command);
      checkedName(command, "TaskRun", name);
      const matchLabels = selectorOf(command, options.selector);
      const deadline = options.deadline;
      const spec = {
        allowedGroups: texts(options.group),
        targetSelector: Object.keys(matchLabels).length === 0 ? {} : { matchLabels },
        deadlineSeconds: typeof deadline === "number" ? deadline : parseSpanSeconds(DEADLINE_DEFAULT),
        systemUpgradeV1: {},
      };
      if (spec.allowedGroups.length === 0) command.error("error: no group is given: use --group GROUP");
      found({
        command: "task-run",
        name,
        spec: checkedSpec(command, spec),
        dryRun: options.dryRun === true,
        yes: options.yes === true,
        output: options.output as OutputFormat,
      });
    });
}

function checkedSpec(command: Command, spec: unknown) {
  try {
    return taskRunSpec(spec, "");
  } catch (error) {
    if (!isFleetError(error, "E_DECODE")) throw error;
    command.error(`error: ${error.message.replace(/^allowedGroups/, "--group")}`);
  }
}

function deadlineOf(value: string): number {
  const parsed = parseSpanSeconds(value);
  if (parsed === null || parsed < TASK_DEADLINE_MIN_S || parsed > TASK_DEADLINE_MAX_S) {
    throw new InvalidArgumentError("Must be from 60s to 7d, such as 90m or 6h.");
  }
  return parsed;
}

function reasonOf(value: string): string {
  try {
    return reasonFormat(value, "--reason");
  } catch (error) {
    if (!isFleetError(error, "E_DECODE")) throw error;
    throw new InvalidArgumentError("Must be a reason such as DiskFull.");
  }
}
