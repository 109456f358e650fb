/**
 * Turns a command line into an {@link Invocation}, or into the text that helps.
 *
 * @module
 */
import { Argument, Command, CommanderError, Option } from "commander";
import { addArtifact } from "./artifacts/artifact_command_line.ts";
import { addTask } from "./tasks/task_command_line.ts";
import { checkedName, collect, namedTargetOf, seconds, selectorOf, targetOf, texts } from "./command_arguments.ts";
import { addDevicesBehind, behindOptions, optionsOf, outputOption, selectorOption } from "./command_options.ts";
import { DESCRIPTION, EXAMPLES, ROOT_FOOTER } from "./help_text.ts";
import {
  type ConnectionFlags,
  DEPLOYMENT_PHASE_NAMES,
  type DeploymentPhaseName,
  type Invocation,
  OUTPUT_FORMATS,
  type OutputFormat,
  type ParsedCommandLine,
  type ReleaseChange,
  TARGET_PHASES,
  type TargetPhase,
} from "./invocation.ts";
import { DEFAULT_SERVER } from "./connection/connection_settings.ts";
import { kindsText } from "./kind_terms.ts";

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
  addDeployment(root, found);
  addTask(root, found);
  addArtifact(root, found);
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
  root.option("--config <file>", "JSON file with these settings");
  root.addOption(new Option("--timeout <seconds>", "longest wait for the server (default 15)").argParser(seconds));
  root.optionsGroup("");
}

function addApply(root: Command, found: Found): void {
  root.command("apply")
    .description("create or change devices, releases, deployments and tasks from files")
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
    const text = name === "get" ? `list ${kindsText("many")}` : "list them, then print every change until interrupted";
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
  root.command("describe").description(`tell everything about a ${kindsText("one")}, and what to do next`)
    .addArgument(kindArgument()).addArgument(new Argument("[names...]", "names"))
    .addOption(outputOption(["table", "json", "yaml"]))
    .addHelpText("after", EXAMPLES.describe)
    .action((kind: string, names: string[], _options, command: Command) => {
      const target = namedTargetOf(command, kind, names);
      found({ command: "describe", ...target, output: optionsOf(command).output as OutputFormat });
    });
}

function addDelete(root: Command, found: Found): void {
  root.command("delete").description(`delete ${kindsText("many")}`)
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
  addDevicesBehind(release, "AgentRelease", TARGET_PHASES)
    .addHelpText("after", EXAMPLES.releaseDevices)
    .action((name: string, _options, command: Command) => {
      const { phase, ...rest } = behindOptions(command, "AgentRelease", name);
      found({ command: "release-devices", phase: phase as TargetPhase, ...rest });
    });
}

function addDeployment(root: Command, found: Found): void {
  const deployment = root.command("deployment").description("list the devices behind a count of a deployment")
    .addHelpText("after", EXAMPLES.deployment);
  addDevicesBehind(deployment, "FleetDeployment", DEPLOYMENT_PHASE_NAMES)
    .addHelpText("after", EXAMPLES.deployment)
    .action((name: string, _options, command: Command) => {
      const { phase, ...rest } = behindOptions(command, "FleetDeployment", name);
      found({ command: "deployment-devices", phase: phase as DeploymentPhaseName, ...rest });
    });
}

function kindArgument(): Argument {
  return new Argument("<kind>", `${kindsText("many")}; KIND/NAME, as -o name prints it, is taken too`);
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
