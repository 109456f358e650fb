/**
 * `fleetctl artifact inspect`.
 *
 * @module
 */
import { parseOciReference } from "../../../contracts/oci_reference.ts";
import type { InspectInvocation } from "../artifacts/artifact_invocation.ts";
import { inspectArtifact } from "../artifacts/inspect_artifact.ts";
import { fetchOptions } from "../artifacts/push_artifact.ts";
import { registryAccess } from "../artifacts/registry_access.ts";
import { inspectionProblem, releaseArtifacts, renderInspection } from "../artifacts/render_artifact.ts";
import { EXIT, type ExitCode } from "../exit_code.ts";
import { withProgress } from "../progress.ts";
import { printableJson } from "../render/printable.ts";
import type { ArtifactContext } from "./artifact_push_command.ts";
import { note } from "./command_context.ts";

/**
 * Looks at an artifact as a device would, and says whether a device takes it.
 *
 * @param invocation What to look at
 * @param context Terminal and environment
 */
export async function artifactInspectCommand(
  invocation: InspectInvocation,
  context: ArtifactContext,
): Promise<ExitCode> {
  const { terminal, environment, signal } = context;
  const { reference, output } = invocation;
  const parsed = parseOciReference(reference);
  // Devices have no login: with one, this would say what they do not see.
  const access = await registryAccess(
    invocation.registry.caFile === undefined ? {} : { caFile: invocation.registry.caFile },
    (name) => name === "FLEETCTL_REGISTRY_CA_FILE" ? environment(name) : undefined,
    "problem" in parsed ? "" : parsed.host,
  );
  const fetching = fetchOptions(access);
  const inspection = await withProgress(
    terminal,
    `fetching ${reference.replace(/[?#].*$/s, "")}`,
    (report) => inspectArtifact(reference, { fetching, report, signal }),
  );
  const problem = inspectionProblem(inspection);
  if (output === "json") {
    const artifacts = releaseArtifacts(inspection.agents);
    const accepted = problem === undefined;
    await terminal.out(printableJson({ reference, accepted, ...inspection, artifacts }));
  } else {
    await terminal.out(renderInspection(reference, inspection, terminal));
  }
  if (problem === undefined) return EXIT.ok;
  await note(terminal, problem);
  return EXIT.artifactRefused;
}
