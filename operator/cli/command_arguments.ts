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
import type { Selector } from "./invocation.ts";
import { kindsText, namesOfKind } from "./kind_terms.ts";
import { FLEETCTL_KINDS, type FleetctlKind } from "./manifest/manifest_input.ts";
import { nearestName } from "./manifest/nearest_name.ts";

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

/** Makes a reader of the name of a count. It throws {@link InvalidArgumentError}. */
export function phaseOf<P extends string>(phases: readonly P[]): (value: string) => P {
  return (value) => {
    // Counts are spelt in camelCase in documents; both spellings name the same.
    const name = value.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const found = phases.find((phase) => phase === name);
    if (found !== undefined) return found;
    const nearest = nearestName(value, phases);
    throw new InvalidArgumentError(
      `Allowed are ${phases.join(", ")}.${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`,
    );
  };
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
  const found = FLEETCTL_KINDS.find((kind) => namesOfKind(kind).includes(text.toLowerCase()));
  if (found !== undefined) return found;
  const nearest = nearestName(text, FLEETCTL_KINDS.flatMap(namesOfKind));
  const hint = nearest === undefined ? "" : `; did you mean ${nearest}?`;
  command.error(`error: ${JSON.stringify(text)} is not a kind: use ${kindsText("many")}${hint}`);
}
