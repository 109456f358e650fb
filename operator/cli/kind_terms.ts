/**
 * What each kind is called on the command line and in messages.
 *
 * @module
 */
import { FLEETCTL_KINDS, type FleetctlKind } from "./manifest/manifest_input.ts";

/** Words for one kind. */
export interface KindTerms {
  readonly one: string;
  readonly many: string;
  /** Other names that a command line may use. */
  readonly aliases: readonly string[];
  /** Said when there are none at all. */
  readonly none: string;
}

/** Words for every kind. */
export const KIND_TERMS: Readonly<Record<FleetctlKind, KindTerms>> = {
  Device: {
    one: "device",
    many: "devices",
    aliases: ["dev"],
    none: "there are no devices yet; one appears when its agent first reports",
  },
  AgentRelease: {
    one: "release",
    many: "releases",
    aliases: ["agentreleases", "agentrelease", "rel"],
    none: "there are no releases yet; fleetctl apply --help shows one",
  },
  FleetDeployment: {
    one: "deployment",
    many: "deployments",
    aliases: ["fleetdeployments", "fleetdeployment", "deploy"],
    none: "there are no deployments yet; fleetctl apply --help shows one",
  },
  TaskRun: {
    one: "task",
    many: "tasks",
    aliases: ["taskruns", "taskrun", "runs", "run"],
    none: "there are no tasks yet; fleetctl task run makes one",
  },
};

/** Every name of a kind on the command line. */
export function namesOfKind(kind: FleetctlKind): readonly string[] {
  const { aliases, many, one } = KIND_TERMS[kind];
  return [many, one, ...aliases];
}

/** The kinds in a sentence: `devices, releases or deployments`. */
export function kindsText(form: "one" | "many"): string {
  const words = FLEETCTL_KINDS.map((kind) => KIND_TERMS[kind][form]);
  return `${words.slice(0, -1).join(", ")} or ${words.at(-1) ?? ""}`;
}
