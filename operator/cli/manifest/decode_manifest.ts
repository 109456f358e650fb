/**
 * Decodes a document that a person wrote. Here, unlike on the wire, a member that nobody knows is an error: a typo must
 * not be ignored.
 *
 * @module
 */
import { type Decoder, flag, integer, object, oneOf, optional, text } from "../../../contracts/codec.ts";
import { knownProblems } from "../../../contracts/decode_problems.ts";
import { isFleetError } from "../../../contracts/errors.ts";
import { instant, labels, uuid } from "../../../contracts/formats.ts";
import { RESOURCE_NAME_MAX_CHARS } from "../../../contracts/limits.ts";
import { API_VERSION } from "../../../contracts/resource.ts";
import { unknownMembers } from "../../../contracts/unknown_members.ts";
import { RESOURCE_RULES } from "../../stores/resource_rules.ts";
import { FLEETCTL_KINDS, type FleetctlKind, type ManifestInput, type ManifestProblem } from "./manifest_input.ts";
import { nearestName } from "./nearest_name.ts";

/** A document that may be applied, or everything that is wrong with it. */
export type DecodedManifest =
  | { readonly ok: true; readonly input: ManifestInput }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] };

const anything: Decoder<unknown> = (value) => value;

/** Members that the store makes are taken too, so that what `get` prints can be applied. */
const metadataDecoder = {
  labels: optional(labels),
  uid: optional(uuid),
  resourceVersion: optional(text({ what: "a resource version", maxChars: RESOURCE_NAME_MAX_CHARS })),
  generation: optional(integer(1)),
  creationTimestamp: optional(instant),
};

function documentDecoder(kind: FleetctlKind) {
  return object({
    apiVersion: oneOf([API_VERSION]),
    kind: oneOf([kind]),
    metadata: object({ name: RESOURCE_RULES[kind].name, ...metadataDecoder }),
    spec: RESOURCE_RULES[kind].spec as Decoder<unknown>,
    status: optional(anything),
  });
}

const DOCUMENTS = {
  Device: documentDecoder("Device"),
  AgentRelease: documentDecoder("AgentRelease"),
  FleetDeployment: documentDecoder("FleetDeployment"),
  TaskRun: documentDecoder("TaskRun"),
};
const header = object({ apiVersion: oneOf([API_VERSION]), kind: oneOf(FLEETCTL_KINDS) });
/** Where the members that `fleetctl release` owns are left out, the decoder's defaults must not stand for them. */
const ownedByCommands = object({ spec: object({ revision: optional(integer(1)), paused: optional(flag) }) });

/**
 * Decodes one document.
 *
 * @param value The parsed document
 * @param base Dotted path where it stands. Default the document itself
 */
export function decodeManifest(value: unknown, base = ""): DecodedManifest {
  const kind = attempt(() => header(value, base).kind);
  if (!kind.ok) return { ok: false, problems: [withKindHint(kind.problem, value)] };
  const decoder = DOCUMENTS[kind.value];
  const problems = documentProblems(decoder, value, base);
  if (problems.length > 0) return { ok: false, problems };
  const { name, labels: given, resourceVersion, uid, generation } = decoder(value, base).metadata;
  const problem = forcedLabelProblem(kind.value, name, given, base);
  if (problem !== undefined) return { ok: false, problems: [problem] };
  const common = {
    name,
    ...(given === undefined ? {} : { labels: given }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(uid === undefined ? {} : { uid }),
    ...(generation === undefined ? {} : { generation }),
  };
  return { ok: true, input: { ...common, ...specOf(kind.value, value, base) } };
}

type KindAndSpec = { [K in FleetctlKind]: Pick<Extract<ManifestInput, { kind: K }>, "kind" | "spec"> }[FleetctlKind];

function specOf(kind: FleetctlKind, value: unknown, base: string): KindAndSpec {
  const source = (value as { spec: unknown }).spec;
  const path = pathBelow(base, "spec");
  if (kind === "Device") return { kind, spec: RESOURCE_RULES[kind].spec(source, path) };
  if (kind === "FleetDeployment") return { kind, spec: RESOURCE_RULES[kind].spec(source, path) };
  if (kind === "TaskRun") return { kind, spec: RESOURCE_RULES[kind].spec(source, path) };
  const { revision: _revision, paused: _paused, ...spec } = RESOURCE_RULES[kind].spec(source, path);
  return { kind, spec: { ...spec, ...ownedByCommands(value, base).spec } };
}

function pathBelow(base: string, name: string): string {
  return base === "" ? name : `${base}.${name}`;
}

type Attempt<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: ManifestProblem };

function attempt<T>(decode: () => T): Attempt<T> {
  try {
    return { ok: true, value: decode() };
  } catch (error) {
    if (!isFleetError(error, "E_DECODE")) throw error;
    return { ok: false, problem: { path: error.field ?? "", message: error.message } };
  }
}

/** Everything that is wrong; a member that is missing because its name is mistyped is told once, where it stands. */
function documentProblems(decoder: Decoder<unknown>, value: unknown, base: string): ManifestProblem[] {
  const meant = new Set<string>();
  const unknown = unknownMembers(decoder, value, base).map(({ path, name, known }) => {
    const nearest = nearestName(name, known);
    if (nearest !== undefined) meant.add(path.slice(0, path.length - name.length) + nearest);
    const hint = nearest === undefined ? `known here: ${known.join(", ")}` : `did you mean ${nearest}?`;
    return { path, message: `${path}: is not a known field`, hint };
  });
  const wrong = knownProblems(decoder, value, base).map(({ field, message }) => ({ path: field ?? "", message }));
  return [...unknown, ...wrong.filter(({ path, message }) => !(meant.has(path) && message.endsWith(": is missing")))];
}

function withKindHint(problem: ManifestProblem, value: unknown): ManifestProblem {
  if (typeof value !== "object" || value === null) return problem;
  const { kind, apiVersion } = value as Record<string, unknown>;
  if (problem.path.endsWith("kind") && typeof kind === "string") {
    const nearest = nearestName(kind, FLEETCTL_KINDS);
    return nearest === undefined ? problem : { ...problem, hint: `did you mean ${nearest}?` };
  }
  if (apiVersion !== API_VERSION) return { ...problem, hint: `write apiVersion: ${API_VERSION}` };
  return problem;
}

function forcedLabelProblem(
  kind: FleetctlKind,
  name: string,
  given: Readonly<Record<string, string>> | undefined,
  base: string,
): ManifestProblem | undefined {
  for (const [label, wanted] of Object.entries(RESOURCE_RULES[kind].forcedLabels(name))) {
    const value = given !== undefined && Object.hasOwn(given, label) ? given[label] : wanted;
    if (value === wanted) continue;
    const path = pathBelow(base, `metadata.labels.${label}`);
    return {
      path,
      message: `${path}: is ${JSON.stringify(value)}, must be the name ${JSON.stringify(wanted)}`,
      hint: "leave the label out: it is set by itself",
    };
  }
  return undefined;
}
