/**
 * The errors of a container engine. Podman's words become a code here and nowhere else.
 *
 * @module
 */
import { FleetError } from "../../contracts/errors.ts";
import { bounded } from "../../contracts/formats.ts";

/** Codes of a container engine's errors, as `port.ts` explains them. */
export const ENGINE_ERROR_CODES = [
  "E_ENGINE_UNREACHABLE",
  "E_ENGINE_TIMEOUT",
  "E_ENGINE_NO_IMAGE",
  "E_ENGINE_PULL",
  "E_ENGINE_NAME_TAKEN",
  "E_ENGINE_NO_CONTAINER",
  "E_ENGINE_REFUSED",
  "E_ENGINE_ANSWER",
] as const;
/** One of {@link ENGINE_ERROR_CODES}. */
export type EngineErrorCode = (typeof ENGINE_ERROR_CODES)[number];

const ENVIRONMENT: ReadonlySet<EngineErrorCode> = new Set([
  "E_ENGINE_UNREACHABLE",
  "E_ENGINE_TIMEOUT",
  "E_ENGINE_PULL",
]);

/**
 * Makes an error.
 *
 * @param code Which
 * @param message One line: what could not be done, and why
 * @param cause What caused it
 */
export function engineError(code: EngineErrorCode, message: string, cause?: unknown): FleetError {
  const failureClass = ENVIRONMENT.has(code) ? "environment" : code === "E_ENGINE_ANSWER" ? "internal" : "policy";
  return new FleetError(bounded(message.replaceAll(/\s+/g, " ").trim()), {
    code,
    retry: "transient",
    failureClass,
    cause,
  });
}

/**
 * The error of an answer that is no success.
 *
 * @param what What was asked for: "create web.app"
 * @param status HTTP status
 * @param text What Podman says
 */
export function refusalOf(what: string, status: number, text: string): FleetError {
  const message = `Cannot ${what}: ${text === "" ? `Podman answers ${status}` : text}`;
  // 4.3 answers 500 to what later versions answer 404 and 409 to, so that the words decide.
  if (/\bname\b.*already in use|container already exists|UNIQUE constraint failed: ContainerConfig\.Name/i.test(text)) {
    return engineError("E_ENGINE_NAME_TAKEN", message);
  }
  if (/no such image|image not known|unable to find .*image/i.test(text)) {
    return engineError("E_ENGINE_NO_IMAGE", message);
  }
  if (/no such container|no container with name or id/i.test(text)) {
    return engineError("E_ENGINE_NO_CONTAINER", message);
  }
  return engineError("E_ENGINE_REFUSED", message);
}
