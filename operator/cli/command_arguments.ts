/**
 * Reads the arguments of a command line that have a form of their own: kinds, names, labels, counts, times.
 *
 * @module
 */
import { type Command, InvalidArgumentError } from "commander";
import { isFleetError } from "../../contracts/errors.ts";
import { labels } from "../../contracts/formats.ts";
import { COMMAND_TIMEOUT_MAX_S } from "../../contracts/limits.ts";
import { RESOURCE_RULES } from "../stores/resource_rules.ts";
import { type Selector, TARGET_PHASES, type TargetPhase } from "./invocation.ts";
import type { FleetctlKind } from "./manifest/manifest_input.ts";
import { nearestName } from "./manifest/nearest_name.ts";

/** Names of each kind on the command line; the first is the one that messages use. */
const KIND_NAMES: Readonly<Record<FleetctlKind, readonly string[]>> = {
  Device: ["devices", "device", "dev"],
  AgentRelease: ["releases", "release", "agentreleases", "agentrelease", "rel"],
};

/** Adds a value of a repeatable option. */
export function collect(value: string, previous: unknown): string[] {
  return [...texts(previous), value];
}

/** The values of a repeatable option; one that was not given has no list. */
export function texts(given: unknown): string[] {
  return Array.isArray(given) ? given as string[] : [];
}

/** Reads a number of seconds. @throws {InvalidArgumentError} */
export function seconds(value: string): number {
  const parsed = Number(value);
  if (!/^\d+$/.test(value) || parsed < 1 || parsed > COMMAND_TIMEOUT_MAX_S) {
    throw new InvalidArgumentError(`Must be whole seconds from 1 to ${COMMAND_TIMEOUT_MAX_S}.`);
  }
  return parsed;
}

/** Reads the name of a count. @throws {InvalidArgumentError} */
export function targetPhase(value: string): TargetPhase {
  // Counts are spelt in camelCase in documents; both spellings name the same.
  const name = value.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const found = TARGET_PHASES.find((phase) => phase === name);
  if (found !== undefined) return found;
  const nearest = nearestName(value, TARGET_PHASES);
  throw new InvalidArgumentError(
    `Allowed are ${TARGET_PHASES.join(", ")}.${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`,
  );
}

/** Reads labels that must match; a wrong one ends the parsing. */
export function selectorOf(command: Command, given: unknown): Selector {
  const pairs = texts(given).flatMap((text) => text.split(","));
  const entries = pairs.map((pair) => {
    const at = pair.indexOf("=");
    if (at < 1) command.error(`error: --selector ${JSON.stringify(pair)}: write it as label=value`);
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  try {
    const selector = labels(Object.fromEntries(entries), "--selector");
    const conflict = entries.find(([label, value]) => selector[label] !== value);
    if (conflict !== undefined) command.error(`error: --selector names ${conflict[0]} twice with different values`);
    return selector;
  } catch (error) {
    if (!isFleetError(error, "E_DECODE")) throw error;
    command.error(`error: ${error.message}`);
  }
}

/** What a command is about. */
export interface Target {
  readonly kind: FleetctlKind;
  /** Empty for all. */
  readonly names: readonly string[];
}

/** As {@link targetOf}, with at least one name. */
export function namedTargetOf(command: Command, kind: string, names: readonly string[]): Target {
  const target = targetOf(command, kind, names);
  if (target.names.length === 0) command.error("error: no name is given");
  return target;
}

/** Reads `KIND NAME...` or `KIND/NAME...`; a wrong one ends the parsing. */
export function targetOf(command: Command, first: string, rest: readonly string[]): Target {
  if (!first.includes("/")) {
    const kind = kindOf(command, first);
    return { kind, names: rest.map((name) => checkedName(command, kind, name)) };
  }
  const pairs = [first, ...rest].map((text) => {
    const at = text.indexOf("/");
    if (at < 0) command.error(`error: ${JSON.stringify(text)} must be KIND/NAME, as the others are`);
    const kind = kindOf(command, text.slice(0, at));
    return { kind, name: checkedName(command, kind, text.slice(at + 1)) };
  });
  const kind = pairs[0]?.kind ?? "Device";
  if (pairs.some((pair) => pair.kind !== kind)) command.error("error: all names must be of one kind");
  return { kind, names: pairs.map(({ name }) => name) };
}

/** A name that no resource of its kind can have is a wrong line, not one that is not found. */
export function checkedName(command: Command, kind: FleetctlKind, name: string): string {
  try {
    return RESOURCE_RULES[kind].name(name, JSON.stringify(name));
  } catch (error) {
    if (!isFleetError(error, "E_DECODE")) throw error;
    command.error(`error: ${error.message}`);
  }
}

function kindOf(command: Command, text: string): FleetctlKind {
  for (const [kind, names] of Object.entries(KIND_NAMES)) {
    if (names.includes(text.toLowerCase())) return kind as FleetctlKind;
  }
  const nearest = nearestName(text, [...KIND_NAMES.Device, ...KIND_NAMES.AgentRelease]);
  const hint = nearest === undefined ? "" : `; did you mean ${nearest}?`;
  command.error(`error: ${JSON.stringify(text)} is not a kind: use devices or releases${hint}`);
}
