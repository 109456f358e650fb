/**
 * `fleetctl release pause|resume|retry`.
 *
 * @module
 */
import { EXIT, type ExitCode } from "../exit_code.ts";
import type { Invocation, ReleaseChange } from "../invocation.ts";
import { type ChangedRelease, changeRelease } from "../releases/change_release.ts";
import { resourceName } from "../render/resource_list.ts";
import { type CommandContext, note } from "./command_context.ts";
import { missingText } from "./find_resources.ts";

type ChangeInvocation = Extract<Invocation, { command: "change-release" }>;

/**
 * Changes releases one after the other.
 *
 * @param invocation Which, and how
 * @param context Fleet and terminal
 */
export async function changeReleaseCommand(invocation: ChangeInvocation, context: CommandContext): Promise<ExitCode> {
  const { fleet: { store }, terminal } = context;
  let exitCode: ExitCode = EXIT.ok;
  for (const name of new Set(invocation.names)) {
    const changed = await changeRelease(store, name, invocation.change);
    if (changed.kind === "missing") {
      await note(terminal, await missingText(context, "AgentRelease", name));
      exitCode = EXIT.notFound;
      continue;
    }
    await terminal.out(`${resourceName("AgentRelease", name)} ${changeText(invocation.change, changed)}\n`);
    for (const line of changeNotes(invocation.change, changed)) await note(terminal, line);
  }
  return exitCode;
}

type Done = Exclude<ChangedRelease, { kind: "missing" }>;

function changeText(change: ReleaseChange, changed: Done): string {
  const { revision } = changed.release.spec;
  if (changed.kind === "unchanged") {
    return change === "retry"
      ? `unchanged (somebody else raised its revision to ${revision} just now)`
      : `unchanged (it is ${change === "pause" ? "paused" : "not paused"} already)`;
  }
  if (change === "retry") return `retried (revision ${changed.before.spec.revision} -> ${revision})`;
  return change === "pause" ? "paused" : "resumed";
}

function changeNotes(change: ReleaseChange, { kind, release }: Done): string[] {
  if (kind === "unchanged") return [];
  const { metadata: { name }, spec, status } = release;
  if (change === "pause") {
    return status !== undefined && status.upgrading > 0
      ? [`${status.upgrading} running attempts go on to their end; no new one is written`]
      : [];
  }
  if (change === "resume") return [];
  const again = (status?.failed ?? 0) + (status?.rolledBack ?? 0);
  const notes = [`it failed on ${again} ${again === 1 ? "device" : "devices"}, which will try it again`];
  if (spec.paused) notes.push(`it is paused, so that none does yet: fleetctl release resume ${name}`);
  return notes;
}
