/**
 * Why a connection to NATS could not be made, and at which step.
 *
 * @module
 */
import { FleetError } from "../../contracts/errors.ts";
import type { ReadinessStep } from "../../contracts/readiness.ts";

/** Steps of a connection, in order. */
export type ConnectStep = Extract<ReadinessStep, "dns" | "network" | "tls" | "nats">;

/** Codes of a failed connection. */
export type ConnectErrorCode = "E_BUS_UNREACHABLE" | "E_BUS_AUTH" | "E_BUS_SERVER_TOO_OLD";

/**
 * A failed connection: always `transient` and `environment`, since names, links, certificates and credentials are
 * mended elsewhere.
 */
export class BusConnectError extends FleetError {
  /** The step that failed, as STATUS and device info name it. */
  readonly step: ConnectStep;

  constructor(step: ConnectStep, message: string, options: { code?: ConnectErrorCode; cause?: unknown } = {}) {
    const { code = "E_BUS_UNREACHABLE", cause } = options;
    super(message, { code, retry: "transient", failureClass: "environment", cause });
    this.step = step;
  }
}
