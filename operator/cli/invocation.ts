/**
 * What a command line asks for, as data.
 *
 * @module
 */
import type { ArtifactInvocation } from "./artifacts/artifact_invocation.ts";
import { DEPLOYMENT_TARGET_STATES } from "../policy/deployment_target.ts";
import type { TaskRunSpec } from "../../contracts/task_run.ts";
import { TASK_TARGET_STATES } from "../policy/task_target_state.ts";
import type { FleetctlKind } from "./manifest/manifest_input.ts";

/** Formats of `--output`. */
export const OUTPUT_FORMATS = ["table", "json", "yaml", "name"] as const;
/** One of {@link OUTPUT_FORMATS}. */
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** Labels that a resource must have. */
export type Selector = Readonly<Record<string, string>>;

/** Names that the counts of a release have on the command line; `pending` are the targets that no count names. */
export const TARGET_PHASES = [
  "targets",
  "current",
  "upgrading",
  "failed",
  "rolled-back",
  "quarantined",
  "lost",
  "ineligible",
  "pending",
] as const;
/** One of {@link TARGET_PHASES}. */
export type TargetPhase = (typeof TARGET_PHASES)[number];

/** Names that the counts of a deployment have on the command line. */
export const DEPLOYMENT_PHASE_NAMES = ["targets", ...DEPLOYMENT_TARGET_STATES] as const;
/** One of {@link DEPLOYMENT_PHASE_NAMES}. */
export type DeploymentPhaseName = (typeof DEPLOYMENT_PHASE_NAMES)[number];

/** Names that the devices of a run can be asked for by on the command line. */
export const TASK_PHASE_NAMES = ["targets", "canaries", "released", ...TASK_TARGET_STATES] as const;
/** One of {@link TASK_PHASE_NAMES}. */
export type TaskPhaseName = (typeof TASK_PHASE_NAMES)[number];

/** Changes that `fleetctl release` makes. */
export type ReleaseChange = "pause" | "resume" | "retry";

/** One command with its arguments. */
export type Invocation = FleetInvocation | ArtifactInvocation;

/** A command about the fleet: it needs a connection. */
export type FleetInvocation =
  | {
    readonly command: "apply";
    readonly files: readonly string[];
    readonly dryRun: boolean;
    readonly output: OutputFormat;
  }
  | {
    readonly command: "get" | "watch";
    readonly kind: FleetctlKind;
    /** Empty for all. */
    readonly names: readonly string[];
    readonly selector: Selector;
    readonly output: OutputFormat;
  }
  | {
    readonly command: "describe";
    readonly kind: FleetctlKind;
    readonly names: readonly string[];
    readonly output: OutputFormat;
  }
  | {
    readonly command: "delete";
    readonly kind: FleetctlKind;
    readonly names: readonly string[];
    readonly ignoreNotFound: boolean;
  }
  | { readonly command: "change-release"; readonly change: ReleaseChange; readonly names: readonly string[] }
  | {
    readonly command: "release-devices";
    readonly name: string;
    readonly phase: TargetPhase;
    readonly selector: Selector;
    readonly output: OutputFormat;
  }
  | {
    readonly command: "task-run";
    readonly name: string;
    readonly spec: TaskRunSpec;
    readonly dryRun: boolean;
    /** Whether nobody is to be asked. */
    readonly yes: boolean;
    readonly output: OutputFormat;
  }
  | {
    readonly command: "task-devices";
    readonly name: string;
    readonly phase: TaskPhaseName;
    /** Only devices whose status has this reason. */
    readonly reason?: string;
    readonly selector: Selector;
    readonly output: OutputFormat;
  }
  | {
    readonly command: "deployment-devices";
    readonly name: string;
    readonly phase: DeploymentPhaseName;
    readonly selector: Selector;
    readonly output: OutputFormat;
  };

/** Connection options of the command line; every one may come from elsewhere too. */
export interface ConnectionFlags {
  readonly servers: readonly string[];
  readonly user?: string;
  readonly passwordFile?: string;
  readonly tokenFile?: string;
  readonly credentialsFile?: string;
  readonly caFile?: string;
  readonly configFile?: string;
  readonly timeoutSeconds?: number;
}

/** What parsing a command line gives. */
export type ParsedCommandLine =
  | { readonly kind: "run"; readonly invocation: Invocation; readonly connection: ConnectionFlags }
  /** Help or version, for the standard output. */
  | { readonly kind: "text"; readonly text: string }
  /** A wrong command line: what is wrong, for the standard error. */
  | { readonly kind: "usage"; readonly text: string };
