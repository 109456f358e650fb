/**
 * `fleetctl delete`.
 *
 * @module
 */
import { FleetError } from "../../../contracts/errors.ts";
import { CONFLICT_RETRIES_MAX } from "../../../contracts/limits.ts";
import type { ResourceKind } from "../../../contracts/resource.ts";
import type { ResourceStore, StoreDelete } from "../../stores/port.ts";
import { writeOnce } from "../apply/write_once.ts";
import { EXIT, type ExitCode } from "../exit_code.ts";
import type { Invocation } from "../invocation.ts";
import { resourceName } from "../render/resource_list.ts";
import { type CommandContext, note } from "./command_context.ts";
import { missingText } from "./find_resources.ts";

type DeleteInvocation = Extract<Invocation, { command: "delete" }>;

/** What a person should know who has deleted something. */
const HINTS: Readonly<Partial<Record<DeleteInvocation["kind"], string>>> = {
  Device: "a device that lives comes back with its next device info, without groups",
  TaskRun: "intents that no device has accepted are withdrawn; a device that has accepted its own goes on to its end",
  FleetDeployment: "the operator tells its devices, which remove the containers as they hear of it; volumes stay",
};

/**
 * Deletes resources. Each is one write; what was deleted before an error stays deleted.
 *
 * @param invocation What to delete
 * @param context Fleet and terminal
 */
export async function deleteCommand(invocation: DeleteInvocation, context: CommandContext): Promise<ExitCode> {
  const { fleet: { store }, terminal } = context;
  const { kind, names, ignoreNotFound } = invocation;
  let exitCode: ExitCode = EXIT.ok;
  let deleted = 0;
  for (const name of new Set(names)) {
    // No version is given: what a person wants gone is to go whatever the operator has written meanwhile.
    const result = await deleteResource(store, kind, name);
    if (result.ok) {
      deleted++;
      await terminal.out(`${resourceName(kind, name)} deleted\n`);
    } else if (result.why === "conflict") {
      throw new FleetError(`Cannot delete ${resourceName(kind, name)}: it was changed meanwhile`, {
        code: "E_CONFLICT",
      });
    } else if (!ignoreNotFound) {
      await note(terminal, await missingText(context, kind, name));
      exitCode = EXIT.notFound;
    }
  }
  const hint = HINTS[kind];
  if (deleted > 0 && hint !== undefined) await note(terminal, hint);
  return exitCode;
}

/** Deletes; a name that is gone after a write without an answer was deleted by it. */
async function deleteResource(store: ResourceStore, kind: ResourceKind, name: string): Promise<StoreDelete> {
  for (let attempt = 0; attempt < CONFLICT_RETRIES_MAX; attempt++) {
    const result = await writeOnce(() => store.delete(kind, name));
    if (result === "unknown") continue;
    return attempt > 0 && !result.ok && result.why === "not-found" ? { ok: true } : result;
  }
  return await store.delete(kind, name);
}
