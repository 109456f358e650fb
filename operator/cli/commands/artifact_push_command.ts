/**
 * `fleetctl artifact push`.
 *
 * @module
 */
import { FleetError, isFleetError } from "../../../contracts/errors.ts";
import { version as versionDecoder } from "../../../contracts/formats.ts";
import { type OciReference, ociReferenceText, parseOciReference } from "../../../contracts/oci_reference.ts";
import type { PushInvocation } from "../artifacts/artifact_invocation.ts";
import { pushArtifact } from "../artifacts/push_artifact.ts";
import { pushPlan } from "../artifacts/push_plan.ts";
import { readPushFile } from "../artifacts/read_push_file.ts";
import { registryAccess } from "../artifacts/registry_access.ts";
import { type Pushed, renderPushed } from "../artifacts/render_artifact.ts";
import type { Environment } from "../connection/connection_settings.ts";
import { EXIT, type ExitCode } from "../exit_code.ts";
import { withProgress } from "../progress.ts";
import { printableJson } from "../render/printable.ts";
import type { Terminal } from "../terminal.ts";

/** What the commands about artifacts work with. */
export interface ArtifactContext {
  readonly terminal: Terminal;
  readonly environment: Environment;
  readonly signal: AbortSignal;
}

function targetOf(text: string): OciReference {
  const reference = parseOciReference(text);
  const problem = "problem" in reference
    ? reference.problem
    : reference.target.kind === "digest"
    ? "names a digest, which the push itself finds: use a tag"
    : undefined;
  if (problem === undefined) return reference as OciReference;
  throw new FleetError(`Cannot push to ${text}: it ${problem}`, { code: "E_USAGE" });
}

function checkedVersion(text: string): string {
  try {
    return versionDecoder(text, "--agent-version");
  } catch (error) {
    if (!isFleetError(error, "E_DECODE")) throw error;
    throw new FleetError(error.message, { code: "E_USAGE", cause: error });
  }
}

/**
 * Pushes agents and prints what a release says of them.
 *
 * @param invocation What, and where
 * @param context Terminal and environment
 */
export async function artifactPushCommand(invocation: PushInvocation, context: ArtifactContext): Promise<ExitCode> {
  const { terminal, environment, signal } = context;
  const { files, arches, force, output } = invocation;
  const reference = targetOf(invocation.reference);
  const version = checkedVersion(invocation.version);
  const read = await withProgress(terminal, "reading", () => Promise.all(files.map(readPushFile)));
  const plan = pushPlan(read, version, arches);
  const access = await registryAccess(invocation.registry, environment, reference.host);
  const shown = ociReferenceText(reference);
  const result = await withProgress(
    terminal,
    `pushing to ${shown}`,
    (report) => pushArtifact(reference, plan, { access, force, report, signal }),
  );
  const url = ociReferenceText({ ...reference, target: { kind: "digest", digest: result.digest } });
  const artifacts = plan.agents.map(({ arch, form, file: { sha256, sizeBytes } }) => (
    { arch, form, url, sha256, maxBytes: sizeBytes }
  ));
  const pushed: Pushed = { reference: shown, version, plan, result, artifacts };
  await terminal.out(output === "json" ? printableJson(jsonOf(pushed)) : renderPushed(pushed, terminal));
  return EXIT.ok;
}

function jsonOf({ reference, version, plan, result, artifacts }: Pushed): unknown {
  const { digest, unchanged, sent } = result;
  const sentFiles = plan.agents.filter(({ file }) => sent.has(file.sha256)).map(({ file }) => file.path);
  return {
    reference,
    digest,
    mediaType: plan.top.mediaType,
    version,
    unchanged,
    sent: [...new Set(sentFiles)],
    artifacts,
  };
}
