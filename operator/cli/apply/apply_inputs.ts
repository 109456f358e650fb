/**
 * Applies documents one after the other. Each is a compare-and-set, repeated on the newest state while somebody else
 * writes too: the operator's status writes must not fail a person's change.
 *
 * @module
 */
import { FleetError } from "../../../contracts/errors.ts";
import { CONFLICT_RETRIES_MAX } from "../../../contracts/limits.ts";
import type { ResourceKind } from "../../../contracts/resource.ts";
import type { ResourceStore } from "../../stores/port.ts";
import type { FleetctlKind, ManifestInput } from "../manifest/manifest_input.ts";
import type { FieldChange } from "./field_changes.ts";
import { applyWarnings, type InputOf, planApply } from "./plan_apply.ts";
import { writeOnce } from "./write_once.ts";

/** What applying a document did, or would do. */
export interface ApplyResult {
  readonly kind: ResourceKind;
  readonly name: string;
  readonly action: "created" | "configured" | "unchanged";
  readonly changes: readonly FieldChange[];
  readonly warnings: readonly string[];
}

/**
 * Applies a document.
 *
 * @param store The store
 * @param input The document
 * @throws {FleetError} `E_CONFLICT` when the document was read from another state than the present one, or when others
 *   got through every time
 */
export async function applyInput(store: ResourceStore, input: ManifestInput): Promise<ApplyResult> {
  switch (input.kind) {
    case "Device":
      return await applyKind(store, "Device", input);
    case "AgentRelease":
      return await applyKind(store, "AgentRelease", input);
    case "FleetDeployment":
      return await applyKind(store, "FleetDeployment", input);
    case "TaskRun":
      return await applyKind(store, "TaskRun", input);
  }
}

async function applyKind<K extends FleetctlKind>(
  store: ResourceStore,
  kind: K,
  input: InputOf<K>,
): Promise<ApplyResult> {
  const { name } = input;
  let maybeWritten: ApplyResult | undefined;
  for (let attempt = 0; attempt <= CONFLICT_RETRIES_MAX; attempt++) {
    const stored = await store.get(kind, name);
    // After a write without an answer the document may be older than what it has made itself.
    if (maybeWritten !== undefined && planApply(kind, unconditional(input), stored).action === "unchanged") {
      return maybeWritten;
    }
    const plan = planApply(kind, input, stored);
    if (plan.action === "conflict") throw conflictError(kind, name, plan.why);
    const warnings = applyWarnings(input, stored);
    if (plan.action === "unchanged") return { kind, name, action: "unchanged", changes: [], warnings };
    const written = await writeOnce(() =>
      plan.action === "create"
        ? store.create(kind, plan.wanted)
        : store.replace(kind, plan.wanted, plan.resourceVersion)
    );
    const action = plan.action === "create" ? "created" : "configured";
    const result: ApplyResult = { kind, name, action, changes: plan.changes, warnings };
    if (written === "unknown") maybeWritten = result;
    else if (written.ok) return result;
  }
  throw conflictError(kind, input.name, `others changed it ${CONFLICT_RETRIES_MAX + 1} times in between`);
}

/** The document without the state that it was read from. */
function unconditional<T extends ManifestInput>(input: T): T {
  const { generation: _generation, resourceVersion: _resourceVersion, ...rest } = input;
  return rest as T;
}

/** The error of a document that may not be applied to the present state. */
export function conflictError(kind: ResourceKind, name: string, why: string): FleetError {
  return new FleetError(`Cannot apply ${kind.toLowerCase()}/${name}: ${why}`, { code: "E_CONFLICT" });
}
