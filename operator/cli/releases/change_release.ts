/**
 * Pauses, resumes and retries a release: one field each, repeated on the newest state while others write.
 *
 * @module
 */
import type { AgentRelease, AgentReleaseSpec } from "../../../contracts/agent_release.ts";
import { FleetError } from "../../../contracts/errors.ts";
import { CONFLICT_RETRIES_MAX } from "../../../contracts/limits.ts";
import type { ResourceStore } from "../../stores/port.ts";
import { writeOnce } from "../apply/write_once.ts";
import type { ReleaseChange } from "../invocation.ts";

/** What became of a release. */
export type ChangedRelease =
  | { readonly kind: "missing" }
  | { readonly kind: "unchanged"; readonly release: AgentRelease }
  | { readonly kind: "changed"; readonly before: AgentRelease; readonly release: AgentRelease };

/** The spec that a change makes of another. */
const CHANGES: Readonly<Record<ReleaseChange, (spec: AgentReleaseSpec) => AgentReleaseSpec>> = {
  pause: (spec) => ({ ...spec, paused: true }),
  resume: (spec) => ({ ...spec, paused: false }),
  retry: (spec) => ({ ...spec, revision: spec.revision + 1 }),
};

/**
 * Changes a release.
 *
 * @param store The store
 * @param name Its name
 * @param change What to do
 * @throws {FleetError} `E_CONFLICT` when others got through every time
 */
export async function changeRelease(
  store: ResourceStore,
  name: string,
  change: ReleaseChange,
): Promise<ChangedRelease> {
  let first: AgentRelease | undefined;
  let maybeWritten = false;
  for (let attempt = 0; attempt <= CONFLICT_RETRIES_MAX; attempt++) {
    const before = await store.get("AgentRelease", name);
    if (before === null) return { kind: "missing" };
    first ??= before;
    const spec = CHANGES[change](before.spec);
    // Another retry came first: it is the one that was asked for, and two would try what failed twice.
    const isRetried = change === "retry" && before.spec.revision > first.spec.revision;
    if (isRetried || (spec.paused === before.spec.paused && spec.revision === before.spec.revision)) {
      // A write without an answer had happened.
      return maybeWritten
        ? { kind: "changed", before: first, release: before }
        : { kind: "unchanged", release: before };
    }
    const input = { name, labels: before.metadata.labels ?? {}, spec };
    const written = await writeOnce(() => store.replace("AgentRelease", input, before.metadata.resourceVersion));
    if (written === "unknown") maybeWritten = true;
    else if (written.ok) return { kind: "changed", before, release: written.resource };
    else if (written.why === "not-found") return { kind: "missing" };
  }
  throw new FleetError(
    `Cannot ${change} release ${name}: others changed it ${CONFLICT_RETRIES_MAX + 1} times in between`,
    { code: "E_CONFLICT" },
  );
}
