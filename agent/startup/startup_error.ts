/**
 * Why an agent did not become READY, and at which step.
 *
 * @module
 */
import { errorText, type FailureClass, FleetError, isFleetError } from "../../contracts/errors.ts";
import type { ReadinessStep } from "../../contracts/readiness.ts";

/** Why an agent did not become READY; `environment` ends it with exit code 75, every other class with 1. */
export class StartupError extends FleetError {
  readonly step: ReadinessStep;

  constructor(step: ReadinessStep, message: string, failureClass: FailureClass, cause?: unknown) {
    super(message, {
      code: "E_NOT_READY",
      retry: failureClass === "environment" ? "transient" : "permanent",
      failureClass,
      cause,
    });
    this.step = step;
  }
}

/**
 * The startup error of what a step threw; a defect stays what it is.
 *
 * @param step The step
 * @param error What it threw
 */
export function startupErrorOf(step: ReadinessStep, error: unknown): unknown {
  if (error instanceof StartupError || !isFleetError(error)) return error;
  return new StartupError(step, errorText(error), error.failureClass, error);
}
