/**
 * `fleetctl task run`: shows what a run would do, asks where it matters, and starts it.
 *
 * @module
 */
import { FleetError } from "../../../contracts/errors.ts";
import type { TaskRunSpec } from "../../../contracts/task_run.ts";
import { writeOnce } from "../apply/write_once.ts";
import { sameJson } from "../../policy/same_json.ts";
import { EXIT, type ExitCode } from "../exit_code.ts";
import type { Invocation } from "../invocation.ts";
import { withProgress } from "../progress.ts";
import { printableJson } from "../render/printable.ts";
import { resourceName } from "../render/resource_list.ts";
import { renderRunPreview } from "../tasks/render_run_preview.ts";
import { previewRun, type RunPreview } from "../tasks/run_preview.ts";
import { type CommandContext, note } from "./command_context.ts";

type TaskRunInvocation = Extract<Invocation, { command: "task-run" }>;

/**
 * Starts a run.
 *
 * @param invocation What to run
 * @param context Fleet and terminal
 * @throws {FleetError} `E_CONFLICT` when the name is taken, `E_USAGE` when a person should be asked and there is none,
 *   `E_NOT_CONFIRMED` when that person says no
 */
export async function taskRunCommand(invocation: TaskRunInvocation, context: CommandContext): Promise<ExitCode> {
  const { fleet: { store }, terminal } = context;
  const { dryRun, name, output, spec, yes } = invocation;
  const resource = resourceName("TaskRun", name);
  const { devices, taken } = await withProgress(terminal, "reading the fleet", async () => ({
    devices: await store.list("Device"),
    taken: await store.get("TaskRun", name) !== null,
  }));
  if (taken) throw nameTaken(resource);
  const preview = previewRun(spec, devices);
  if (output === "table") {
    const head = `${resource}${dryRun ? " (dry run)" : ""}\n`;
    await terminal.out(head + renderRunPreview(preview, terminal.paint));
  }
  if (dryRun) {
    if (output === "json") await terminal.out(printableJson({ dryRun, task: name, created: false, ...preview }));
    return EXIT.ok;
  }
  if (!yes) await confirm(preview, context);
  await create(name, spec, context);
  if (output === "json") await terminal.out(printableJson({ dryRun, task: name, created: true, ...preview }));
  else await terminal.out(`${resource} created\n`);
  await note(terminal, `follow it with: fleetctl task watch ${name}`);
  return EXIT.ok;
}

/** A run on one device is what the person has just said; on more of them, or on none, it is worth a question. */
async function confirm({ targets }: RunPreview, { terminal }: CommandContext): Promise<void> {
  if (targets === 1) return;
  const what = targets === 0
    ? "Start a run that has no targets by the groups of Device.spec.groups?"
    : `Upgrade and reboot ${targets} devices?`;
  const answer = await terminal.confirm(what);
  if (answer === true) return;
  if (answer === false) throw new FleetError("Nothing was started", { code: "E_NOT_CONFIRMED" });
  throw new FleetError(`Cannot ask whether to start a run on ${targets} devices: say --yes`, { code: "E_USAGE" });
}

async function create(name: string, spec: TaskRunSpec, { fleet: { store } }: CommandContext): Promise<void> {
  const written = await writeOnce(() => store.create("TaskRun", { name, labels: {}, spec }));
  if (written !== "unknown" && written.ok) return;
  const present = await store.get("TaskRun", name);
  // A write without an answer may have made it.
  if (written === "unknown" && present !== null && sameJson(present.spec, spec)) return;
  if (written === "unknown" && present === null) {
    throw new FleetError("Cannot start the run: the server did not answer, and there is none; try again", {
      code: "E_BUS_UNKNOWN_OUTCOME",
    });
  }
  throw nameTaken(resourceName("TaskRun", name));
}

function nameTaken(resource: string): FleetError {
  return new FleetError(
    `Cannot start ${resource}: there is one already, and a run never runs again; use another name`,
    {
      code: "E_CONFLICT",
    },
  );
}
