/**
 * Turns a command line into an {@link Invocation}, or into the text that helps.
 *
 * @module
 */
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { labels } from "../../contracts/formats.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { COMMAND_TIMEOUT_MAX_S } from "../../contracts/limits.ts";
import type { ResourceKind } from "../../contracts/resource.ts";
import { RESOURCE_RULES } from "../stores/resource_rules.ts";
import { DESCRIPTION, EXAMPLES, ROOT_FOOTER } from "./help_text.ts";
import {
  type ConnectionFlags,
  type Invocation,
  OUTPUT_FORMATS,
  type OutputFormat,
  type ParsedCommandLine,
  type ReleaseChange,
  type Selector,
  TARGET_PHASES,
  type TargetPhase,
} from "./invocation.ts";
import { DEFAULT_SERVER } from "./connection/connection_settings.ts";
import { nearestName } from "./manifest/nearest_name.ts";

/** Names of each kind on the command line; the first is the one that messages use. */
const KIND_NAMES: Readonly<Record<ResourceKind, readonly string[]>> = {
  Device: ["devices", "device", "dev"],
  AgentRelease: ["releases", "release", "agentreleases", "agentrelease", "rel"],
};

/**
 * Parses a command line. Nothing is read, written or ended.
 *
 * @param argv Arguments after the program's name
 * @param version Text of `--version`
 * @param width Columns of the terminal, for the help; null for the default
 */
export function parseCommandLine(argv: readonly string[], version: string, width: number | null): ParsedCommandLine {
  let output = "";
  let errors = "";
  let invocation: Invocation | undefined;
  const root = new Command("fleetctl");
  root.exitOverride().configureOutput({
    writeOut: (text) => output += text,
    writeErr: (text) => errors += text,
    ...(width === null ? {} : { getOutHelpWidth: () => width, getErrHelpWidth: () => width }),
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  });
  addCommands(root, version, (found) => invocation = found);
  try {
    root.parse(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? { kind: "text", text: output } : { kind: "usage", text: usageText(errors) };
  }
  // Every command has an action, so that a line that parses has one.
  if (invocation === undefined) return { kind: "usage", text: usageText(errors) };
  return { kind: "run", invocation, connection: connectionFlags(root) };
}

function usageText(errors: string): string {
  return errors.replace(/^error: /, "fleetctl: ");
}

type Found = (invocation: Invocation) => void;

function addCommands(root: Command, version: string, found: Found): void {
  root.description(DESCRIPTION).version(version, "--version", "print the version").helpOption(
    "-h, --help",
    "print help",
  );
  root.showHelpAfterError("Run with --help for usage and examples");
  addConnectionOptions(root);
  root.addHelpText("after", ROOT_FOOTER);
  addApply(root, found);
  addReaders(root, found);
  addDelete(root, found);
  addRelease(root, found);
}

function addConnectionOptions(root: Command): void {
  root.optionsGroup("Connection:");
  root.addOption(
    new Option("--server <url>", `NATS server, repeatable (default ${DEFAULT_SERVER})`).argParser(collect),
  );
  root.option("--user <name>", "user, with --password-file");
  root.option("--password-file <file>", "file with the user's password");
  root.option("--token-file <file>", "file with a token, instead of a user");
  root.option("--creds-file <file>", "NATS credentials file, instead of a user");
  root.option("--ca-file <file>", "certificates that are trusted, PEM; turns TLS on");
  root.option("--config <file>", "YAML or JSON file with these settings");
  root.addOption(new Option("--timeout <seconds>", "longest wait for the server (default 15)").argParser(seconds));
  root.optionsGroup("");
}

function addApply(root: Command, found: Found): void {
  root.command("apply")
    .description("create or change devices and releases from files")
    .addOption(
      new Option("-f, --file <file>", "YAML or JSON, several documents; - for the standard input; repeatable")
        .argParser(collect),
    )
    .option("--dry-run", "print what would change, and on how many devices; change nothing")
    .addOption(outputOption(["table", "json"]))
    .addHelpText("after", EXAMPLES.apply)
    .action((_options, command: Command) => {
      const options = optionsOf(command);
      const files = texts(options.file);
      if (files.length === 0) command.error("error: no file is given: use -f FILE, or -f - for the standard input");
      if (files.filter((file) => file === "-").length > 1) command.error("error: - is given twice");
      found({ command: "apply", files, dryRun: options.dryRun === true, output: options.output as OutputFormat });
    });
}

function addReaders(root: Command, found: Found): void {
  for (const name of ["get", "watch"] as const) {
    const formats = name === "get" ? OUTPUT_FORMATS : (["table", "json", "name"] as const);
    const text = name === "get" ? "list devices or releases" : "list them, then print every change until interrupted";
    root.command(name).description(text)
      .addArgument(kindArgument()).addArgument(new Argument("[names...]", "names; all when there are none"))
      .addOption(selectorOption()).addOption(outputOption(formats))
      .addHelpText("after", EXAMPLES[name])
      .action((kind: string, names: string[], _options, command: Command) => {
        const options = optionsOf(command);
        const target = targetOf(command, kind, names);
        const selector = selectorOf(command, options.selector);
        found({ command: name, ...target, selector, output: options.output as OutputFormat });
      });
  }
  root.command("describe").description("tell everything about a device or release, and what to do next")
    .addArgument(kindArgument()).addArgument(new Argument("[names...]", "names"))
    .addOption(outputOption(["table", "json", "yaml"]))
    .addHelpText("after", EXAMPLES.describe)
    .action((kind: string, names: string[], _options, command: Command) => {
      const target = namedTargetOf(command, kind, names);
      found({ command: "describe", ...target, output: optionsOf(command).output as OutputFormat });
    });
}

function addDelete(root: Command, found: Found): void {
  root.command("delete").description("delete devices or releases")
    .addArgument(kindArgument()).addArgument(new Argument("[names...]", "names"))
    .option("--ignore-not-found", "a name that does not exist is no error")
    .addHelpText("after", EXAMPLES.delete)
    .action((kind: string, names: string[], _options, command: Command) => {
      const ignoreNotFound = optionsOf(command).ignoreNotFound === true;
      found({ command: "delete", ...namedTargetOf(command, kind, names), ignoreNotFound });
    });
}

const CHANGE_TEXTS: Readonly<Record<ReleaseChange, string>> = {
  pause: "write no new attempt of a release; running ones finish",
  resume: "end the pause of a release",
  retry: "let devices where a release failed try it again: raises its revision",
};

function addRelease(root: Command, found: Found): void {
  const release = root.command("release").description(
    "pause, resume or retry a release; list the devices behind a count",
  )
    .addHelpText("after", EXAMPLES.release);
  for (const change of ["pause", "resume", "retry"] as const) {
    release.command(change).description(CHANGE_TEXTS[change]).addArgument(new Argument("<names...>", "releases"))
      .action((names: string[], _options, command: Command) =>
        found({
          command: "change-release",
          change,
          names: names.map((name) => checkedName(command, "AgentRelease", name)),
        })
      );
  }
  release.command("devices").description("list the devices behind a count of a release")
    .addArgument(new Argument("<name>", "release"))
    .addOption(
      new Option("--phase <phase>", `which: ${TARGET_PHASES.join(", ")}`).default("targets").argParser(targetPhase),
    )
    .addOption(selectorOption()).addOption(outputOption(OUTPUT_FORMATS))
    .addHelpText("after", EXAMPLES.releaseDevices)
    .action((name: string, _options, command: Command) => {
      const options = optionsOf(command);
      const selector = selectorOf(command, options.selector);
      const phase = options.phase as TargetPhase;
      checkedName(command, "AgentRelease", name);
      found({ command: "release-devices", name, phase, selector, output: options.output as OutputFormat });
    });
}

/** The library types options as `any`; from here on nothing is known of them. */
function optionsOf(command: Command): Readonly<Record<string, unknown>> {
  return command.opts<Record<string, unknown>>();
}

function collect(value: string, previous: unknown): string[] {
  return [...texts(previous), value];
}

/** A repeatable option that was not given has no list. */
function texts(given: unknown): string[] {
  return Array.isArray(given) ? given as string[] : [];
}

function seconds(value: string): number {
  const parsed = Number(value);
  if (!/^\d+$/.test(value) || parsed < 1 || parsed > COMMAND_TIMEOUT_MAX_S) {
    throw new InvalidArgumentError(`Must be whole seconds from 1 to ${COMMAND_TIMEOUT_MAX_S}.`);
  }
  return parsed;
}

function targetPhase(value: string): TargetPhase {
  // Counts are spelt in camelCase in documents; both spellings name the same.
  const name = value.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const found = TARGET_PHASES.find((phase) => phase === name);
  if (found !== undefined) return found;
  const nearest = nearestName(value, TARGET_PHASES);
  throw new InvalidArgumentError(
    `Allowed are ${TARGET_PHASES.join(", ")}.${nearest === undefined ? "" : ` Did you mean ${nearest}?`}`,
  );
}

function outputOption(formats: readonly OutputFormat[]): Option {
  return new Option("-o, --output <format>", "format of the output").choices(formats).default("table");
}

function selectorOption(): Option {
  return new Option("-l, --selector <label=value>", "only those with this label; repeatable, all must match")
    .argParser(collect);
}

function kindArgument(): Argument {
  return new Argument("<kind>", "devices or releases; KIND/NAME, as -o name prints it, is taken too");
}

function selectorOf(command: Command, given: unknown): Selector {
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

interface Target {
  readonly kind: ResourceKind;
  readonly names: readonly string[];
}

function namedTargetOf(command: Command, kind: string, names: readonly string[]): Target {
  const target = targetOf(command, kind, names);
  if (target.names.length === 0) command.error("error: no name is given");
  return target;
}

function targetOf(command: Command, first: string, rest: readonly string[]): Target {
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
function checkedName(command: Command, kind: ResourceKind, name: string): string {
  try {
    return RESOURCE_RULES[kind].name(name, JSON.stringify(name));
  } catch (error) {
    if (!isFleetError(error, "E_DECODE")) throw error;
    command.error(`error: ${error.message}`);
  }
}

function kindOf(command: Command, text: string): ResourceKind {
  for (const [kind, names] of Object.entries(KIND_NAMES)) {
    if (names.includes(text.toLowerCase())) return kind as ResourceKind;
  }
  const nearest = nearestName(text, [...KIND_NAMES.Device, ...KIND_NAMES.AgentRelease]);
  const hint = nearest === undefined ? "" : `; did you mean ${nearest}?`;
  command.error(`error: ${JSON.stringify(text)} is not a kind: use devices or releases${hint}`);
}

function connectionFlags(root: Command): ConnectionFlags {
  const options = optionsOf(root);
  const single = {
    user: options.user,
    passwordFile: options.passwordFile,
    tokenFile: options.tokenFile,
    credentialsFile: options.credsFile,
    caFile: options.caFile,
    configFile: options.config,
  };
  const given = Object.entries(single).filter(([, value]) => value !== undefined);
  return {
    servers: texts(options.server),
    ...(Object.fromEntries(given) as Omit<ConnectionFlags, "servers">),
    ...(options.timeout === undefined ? {} : { timeoutSeconds: options.timeout as number }),
  };
}
