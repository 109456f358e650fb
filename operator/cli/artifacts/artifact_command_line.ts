/**
 * Adds `fleetctl artifact` to the command line.
 *
 * @module
 */
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { type Architecture, ARCHITECTURES } from "../../../contracts/formats.ts";
import { PUSH_FILES_MAX } from "../../../contracts/limits.ts";
import { texts } from "../command_arguments.ts";
import type { ArtifactInvocation, RegistryFlags } from "./artifact_invocation.ts";
import { ARTIFACT_EXAMPLES } from "./artifact_help.ts";

function arch(value: string, previous: unknown): string[] {
  if (!(ARCHITECTURES as readonly string[]).includes(value)) {
    throw new InvalidArgumentError(`Allowed are ${ARCHITECTURES.join(", ")}.`);
  }
  return [...new Set([...texts(previous), value])];
}

function addRegistryOptions(command: Command, withLogin: boolean): Command {
  command.option("--registry-ca-file <file>", "certificates that are trusted beside the built-in ones, PEM");
  if (!withLogin) return command;
  return command
    .option("--registry-user <name>", "user, with a password from the next option")
    .option("--registry-password-file <file>", "file with the user's password; or FLEETCTL_REGISTRY_PASSWORD")
    .option("--registry-auth-file <file>", "file of 'docker login' or 'podman login', instead of a user");
}

function registryFlags(options: Readonly<Record<string, unknown>>): RegistryFlags {
  const flags = {
    caFile: options.registryCaFile,
    user: options.registryUser,
    passwordFile: options.registryPasswordFile,
    authFile: options.registryAuthFile,
  };
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}

function outputOption(): Option {
  return new Option("-o, --output <format>", "format of the output").choices(["table", "json"]).default("table");
}

/**
 * Adds the commands.
 *
 * @param root The program
 * @param found Told what a line asks for
 */
export function addArtifact(root: Command, found: (invocation: ArtifactInvocation) => void): void {
  const artifact = root.command("artifact")
    .description("put agents into a registry; see what a device would make of an artifact")
    .addHelpText("after", ARTIFACT_EXAMPLES.artifact);
  const push = artifact.command("push")
    .description("push agents, one for each architecture or a script for all, and print the entry for a release")
    .usage("[options] FILE... oci://HOST[:PORT]/REPOSITORY:TAG")
    .addArgument(new Argument("<files...>", "one or two files, and where they go"))
    .requiredOption("--agent-version <version>", "version that the agents have compiled in")
    .addOption(new Option("--arch <arch>", "only this architecture of a script; repeatable").argParser(arch))
    .option("--force", "move a tag that names another artifact");
  addRegistryOptions(push, true).addOption(outputOption())
    .addHelpText("after", ARTIFACT_EXAMPLES.push)
    .action((words: string[], _options, command: Command) => {
      const options = command.opts<Record<string, unknown>>();
      const files = words.slice(0, -1);
      const reference = words.at(-1) ?? "";
      if (!reference.startsWith("oci://")) command.error("error: the last argument must be oci://HOST/REPOSITORY:TAG");
      if (files.length === 0 || files.length > PUSH_FILES_MAX) {
        command.error(`error: ${files.length} files are given, want 1 to ${PUSH_FILES_MAX}: one for each architecture`);
      }
      found({
        command: "artifact-push",
        files,
        reference,
        version: String(options.agentVersion),
        arches: texts(options.arch) as Architecture[],
        force: options.force === true,
        registry: registryFlags(options),
        output: options.output as "table" | "json",
      });
    });
  const inspect = artifact.command("inspect")
    .description("fetch an artifact as a device does, and say whether a device would take it")
    .addArgument(new Argument("<reference>", "oci://HOST/REPOSITORY:TAG, …@sha256:DIGEST, or https://…"));
  addRegistryOptions(inspect, false).addOption(outputOption())
    .addHelpText("after", ARTIFACT_EXAMPLES.inspect)
    .action((reference: string, _options, command: Command) => {
      const options = command.opts<Record<string, unknown>>();
      if (!/^(?:oci|https):\/\//.test(reference)) command.error("error: want oci://… or https://…");
      const output = options.output as "table" | "json";
      found({ command: "artifact-inspect", reference, registry: registryFlags(options), output });
    });
}
