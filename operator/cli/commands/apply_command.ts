/**
 * `fleetctl apply`.
 *
 * @module
 */
import { FleetError } from "../../../contracts/errors.ts";
import { applyInput, type ApplyResult } from "../apply/apply_inputs.ts";
import { previewApply } from "../apply/preview_apply.ts";
import { renderPreview, renderProblems, resultLine } from "../apply/render_apply.ts";
import { EXIT, type ExitCode } from "../exit_code.ts";
import type { Invocation } from "../invocation.ts";
import { type PlacedInput, type PlacedProblem, readManifest, repeatedInputs } from "../manifest/read_manifest.ts";
import { withProgress } from "../progress.ts";
import { printableJson } from "../render/printable.ts";
import { resourceName } from "../render/resource_list.ts";
import { type CommandContext, note } from "./command_context.ts";

type ApplyInvocation = Extract<Invocation, { command: "apply" }>;

/** Reads a file that a person named, or the standard input for `-`, at most up to one byte over the bound. */
export type ReadInput = (file: string) => Promise<Uint8Array>;

/**
 * Reads and checks all files. Nothing of a fleet is needed, so that a typo is told without a connection.
 *
 * @param files Their names
 * @param readInput Reads one of them
 * @throws {FleetError} `E_MANIFEST` with a line for every problem
 */
export async function readManifests(files: readonly string[], readInput: ReadInput): Promise<PlacedInput[]> {
  const inputs: PlacedInput[] = [];
  const problems: PlacedProblem[] = [];
  for (const file of files) {
    const manifest = readManifest(file, await readInput(file));
    inputs.push(...manifest.inputs);
    problems.push(...manifest.problems);
  }
  problems.push(...repeatedInputs(inputs));
  if (problems.length === 0) return inputs;
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  throw new ManifestError(`Cannot apply: ${count}, nothing was applied`, renderProblems(problems));
}

/** Files that are not right. */
export class ManifestError extends FleetError {
  /** A line for every problem, with its place. */
  readonly problems: string;

  constructor(message: string, problems: string) {
    super(message, { code: "E_MANIFEST", failureClass: "policy" });
    this.problems = problems;
  }
}

/**
 * Applies documents that are right, in order.
 *
 * @param invocation How
 * @param inputs The documents
 * @param context Fleet and terminal
 */
export async function applyCommand(
  invocation: ApplyInvocation,
  inputs: readonly PlacedInput[],
  context: CommandContext,
): Promise<ExitCode> {
  if (invocation.dryRun) return await dryRun(invocation, inputs, context);
  const { fleet: { store }, terminal } = context;
  const results: ApplyResult[] = [];
  try {
    await withProgress(terminal, "applying", async (report) => {
      for (const { input } of inputs) {
        const result = await applyInput(store, input);
        results.push(result);
        report(`${results.length} of ${inputs.length} documents`);
        if (invocation.output === "table") await terminal.out(resultLine(result));
        for (const warning of result.warnings) await warn(context, result, warning);
      }
    });
  } finally {
    if (invocation.output === "json") await terminal.out(applyJson(results, false));
    if (results.length > 0 && results.length < inputs.length) {
      await note(
        terminal,
        `${results.length} of ${inputs.length} documents were applied before the error; the same ` +
          "command goes on where it stopped",
      );
    }
  }
  return EXIT.ok;
}

async function warn({ terminal }: CommandContext, { kind, name }: ApplyResult, warning: string): Promise<void> {
  await note(terminal, `warning: ${resourceName(kind, name)}: ${warning}`);
}

async function dryRun(
  { output }: ApplyInvocation,
  inputs: readonly PlacedInput[],
  context: CommandContext,
): Promise<ExitCode> {
  const { fleet: { store }, terminal } = context;
  const state = await withProgress(terminal, "reading the fleet", async () => ({
    devices: await store.list("Device"),
    releases: await store.list("AgentRelease"),
    deployments: await store.list("FleetDeployment"),
    tasks: await store.list("TaskRun"),
  }));
  const { results, impact, tasks } = previewApply(inputs.map(({ input }) => input), state);
  await terminal.out(
    output === "json"
      ? applyJson(results, true, { ...impact, tasks })
      : renderPreview(results, impact, terminal.paint, tasks),
  );
  for (const result of results) {
    for (const warning of result.warnings) await warn(context, result, warning);
  }
  return EXIT.ok;
}

function applyJson(results: readonly ApplyResult[], isDryRun: boolean, impact?: unknown): string {
  return printableJson({ dryRun: isDryRun, results, ...(impact === undefined ? {} : { impact }) });
}
