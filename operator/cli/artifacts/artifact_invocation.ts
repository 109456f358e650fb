/**
 * What a command line about artifacts asks for, as data.
 *
 * @module
 */
import type { Architecture } from "../../../contracts/formats.ts";

/** How a registry is reached; every one may come from the environment too. */
export interface RegistryFlags {
  readonly caFile?: string;
  readonly user?: string;
  readonly passwordFile?: string;
  readonly authFile?: string;
}

/** `fleetctl artifact push`. */
export interface PushInvocation {
  readonly command: "artifact-push";
  readonly files: readonly string[];
  readonly reference: string;
  readonly version: string;
  /** Architectures of a script; empty for all of them, and for what programs say themselves. */
  readonly arches: readonly Architecture[];
  /** Whether a tag that names another artifact is moved. */
  readonly force: boolean;
  readonly registry: RegistryFlags;
  readonly output: "table" | "json";
}

/** `fleetctl artifact inspect`. */
export interface InspectInvocation {
  readonly command: "artifact-inspect";
  readonly reference: string;
  readonly registry: RegistryFlags;
  readonly output: "table" | "json";
}

/** A command about artifacts. It needs no fleet. */
export type ArtifactInvocation = PushInvocation | InspectInvocation;
