/**
 * Options that several commands have.
 *
 * @module
 */
import { Argument, type Command, Option } from "commander";
import { checkedName, collect, phaseOf, selectorOf } from "./command_arguments.ts";
import { OUTPUT_FORMATS, type OutputFormat } from "./invocation.ts";
import { KIND_TERMS } from "./kind_terms.ts";
import type { FleetctlKind } from "./manifest/manifest_input.ts";

/** The command that lists the devices behind a count. */
export function addDevicesBehind(parent: Command, kind: FleetctlKind, phases: readonly string[]): Command {
  const { one } = KIND_TERMS[kind];
  return parent.command("devices").description(`list the devices behind a count of a ${one}`)
    .addArgument(new Argument("<name>", one))
    .addOption(
      new Option("--phase <phase>", `which: ${phases.join(", ")}`).default("targets").argParser(phaseOf(phases)),
    )
    .addOption(selectorOption()).addOption(outputOption(OUTPUT_FORMATS));
}

/** What such a command is asked for. */
export function behindOptions(command: Command, kind: FleetctlKind, name: string) {
  const options = optionsOf(command);
  const selector = selectorOf(command, options.selector);
  checkedName(command, kind, name);
  return { name, phase: options.phase, selector, output: options.output as OutputFormat };
}

/** The library types options as `any`; from here on nothing is known of them. */
export function optionsOf(command: Command): Readonly<Record<string, unknown>> {
  return command.opts<Record<string, unknown>>();
}

/** The option of the output's format. */
export function outputOption(formats: readonly OutputFormat[]): Option {
  return new Option("-o, --output <format>", "format of the output").choices(formats).default("table");
}

/** The option of labels that must match. */
export function selectorOption(): Option {
  return new Option("-l, --selector <label=value>", "only those with this label; repeatable, all must match")
    .argParser(collect);
}
