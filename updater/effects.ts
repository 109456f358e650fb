/**
 * One executor per effect, typed so that a missing one does not compile. An executor runs an effect and returns what
 * happened; it throws only what is fatal (a failed fsync) or a fault of this program.
 *
 * @module
 */
import { errorText, FleetError, isFleetError } from "../contracts/errors.ts";
import { bounded } from "../contracts/formats.ts";
import { ROLLBACK_RETRY_MAX_MS, ROLLBACK_RETRY_MIN_MS } from "../contracts/limits.ts";
import type { ManagedPaths } from "../contracts/managed_paths.ts";
import { backoffMs, type Clock } from "../lib/deadline.ts";
import type { FileSystem } from "../lib/durable/file_system.ts";
import { selectLink } from "../lib/durable/replace_link.ts";
import type { Logger } from "../lib/log.ts";
import { prepareCandidate } from "./candidate.ts";
import type { Effect, EffectKind } from "./core/effect.ts";
import type { EventBody } from "./core/event.ts";
import type { Finding } from "./core/record.ts";
import { judgeStart, judgeStop } from "./core/verdict.ts";
import type { Fetcher, Prober, ServiceManager } from "./ports.ts";

/** The outside, as the executors use it. */
export interface EffectContext {
  readonly fs: FileSystem;
  readonly paths: ManagedPaths;
  readonly fetcher: Fetcher;
  readonly prober: Prober;
  readonly services: ServiceManager;
  readonly clock: Clock;
  readonly log: Logger;
  /** Scaled bounds of the pauses, in ms; tests lower them. */
  readonly retryMinMs?: number;
  readonly retryMaxMs?: number;
}

type Executor<K extends EffectKind> = (
  context: EffectContext,
  effect: Extract<Effect, { kind: K }>,
  run: EffectRun,
) => Promise<EventBody>;

/** What an execution knows beside its effect. */
export interface EffectRun {
  readonly signal: AbortSignal;
  /** How many pauses came before this one without another phase, from 0. */
  readonly waits: number;
}

/**
 * The reason of an error code: `E_DIGEST_MISMATCH` is `DigestMismatch`.
 *
 * @param code An error's code
 */
export function reasonOfCode(code: string): string {
  return code.replace(/^E_/, "").toLowerCase().replaceAll(
    /(?:^|_)([a-z0-9])/g,
    (_, first: string) => first.toUpperCase(),
  );
}

function findingOf(error: unknown): Finding {
  if (!(error instanceof FleetError)) {
    return { reason: "Internal", failureClass: "internal", error: bounded(errorText(error)) };
  }
  if (error.retry === "fatal") throw error;
  return { reason: reasonOfCode(error.code), failureClass: error.failureClass, error: bounded(errorText(error)) };
}

/** Points the link at a binary that is there; returns the problem, if there is one. */
async function select({ fs, paths }: EffectContext, path: string): Promise<string | undefined> {
  try {
    if ((await fs.stat(path))?.kind !== "file") return `${path} is not there`;
    await selectLink(fs, paths.agentLink, path);
    return undefined;
  } catch (error) {
    if (isFleetError(error) && error.retry === "fatal") throw error;
    return bounded(errorText(error));
  }
}

const EXECUTORS: { readonly [K in EffectKind]: Executor<K> } = {
  PrepareCandidate: async (context, { attempt, targetPath }, { signal }) => {
    try {
      const prepared = await prepareCandidate(context, attempt, targetPath, signal);
      context.log.info("candidate prepared", { ...prepared, targetPath });
      return { kind: "CandidatePrepared" };
    } catch (error) {
      return { kind: "PreparationFailed", finding: findingOf(error) };
    }
  },
  ProbeCandidate: async ({ prober }, { targetPath, targetVersion }, { signal }) => {
    const outcome = await prober.probe(targetPath, targetVersion, signal);
    if (outcome.kind === "passed") return { kind: "ProbePassed" };
    const { kind: _kind, ...finding } = outcome;
    return { kind: "ProbeFailed", finding: { ...finding, error: bounded(finding.error) } };
  },
  StopService: async ({ services }) => judgeStop(await services.stop()),
  SelectBinary: async (context, { path }) => {
    const error = await select(context, path);
    return error === undefined ? { kind: "BinarySelected" } : { kind: "SelectionFailed", error };
  },
  RestorePrevious: async (context, { path }) => {
    const error = await select(context, path);
    return error === undefined ? { kind: "PreviousRestored" } : { kind: "RestoreFailed", error };
  },
  StartService: async ({ services }) => {
    // Failures of earlier starts must not make the manager refuse this one (reference: start-limit).
    await services.resetFailed();
    return judgeStart(await services.start(), services.unit);
  },
  Wait: async ({ clock, retryMinMs, retryMaxMs }, _effect, { signal, waits }) => {
    const minMs = retryMinMs ?? ROLLBACK_RETRY_MIN_MS;
    await clock.sleep(backoffMs(waits, { minMs, maxMs: retryMaxMs ?? ROLLBACK_RETRY_MAX_MS }), signal);
    return { kind: "RetryDue" };
  },
};

/**
 * Runs one effect.
 *
 * @param context The outside
 * @param effect The effect
 * @param run Signal and repetition count
 * @throws {FleetError} With the retry class `fatal` when the state of the disk is unknown
 */
export function execute(context: EffectContext, effect: Effect, run: EffectRun): Promise<EventBody> {
  const executor = EXECUTORS[effect.kind] as Executor<EffectKind>;
  return executor(context, effect as never, run);
}
