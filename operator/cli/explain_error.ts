/**
 * Turns an error into what a person needs: what happened, what to do next, and the exit code for scripts.
 *
 * @module
 */
import { errorText, isFleetError } from "../../contracts/errors.ts";
import { BusConnectError, type ConnectStep } from "../../lib/bus/connect_error.ts";
import type { ConnectionSettings } from "./connection/connection_settings.ts";
import { EXIT, type ExitCode } from "./exit_code.ts";

/** An error as it is shown. */
export interface ExplainedError {
  /** One line. */
  readonly message: string;
  /** What to do next, a line each. */
  readonly hints: readonly string[];
  readonly exitCode: ExitCode;
}

/**
 * Explains an error.
 *
 * @param error What was caught
 * @param settings How NATS was to be reached; absent before that was known
 */
export function explainError(error: unknown, settings?: ConnectionSettings): ExplainedError {
  const message = errorText(error);
  const code = isFleetError(error) ? error.code : "";
  const exitCode = EXIT_OF_CODE[code] ?? exitOfFetch(error) ?? EXIT.error;
  const hints = error instanceof BusConnectError && code === "E_BUS_UNREACHABLE"
    ? unreachableHints(error.step, settings)
    : hintsOf(code, settings);
  return { message, hints, exitCode };
}

/** Of the way to a registry, or of what stands there. */
function exitOfFetch(error: unknown): ExitCode | undefined {
  if (!isFleetError(error) || !error.code.startsWith("E_FETCH_")) return undefined;
  return error.failureClass === "environment" ? EXIT.unreachable : EXIT.artifactRefused;
}

const EXIT_OF_CODE: Readonly<Record<string, ExitCode>> = {
  E_USAGE: EXIT.usage,
  E_CONFIG: EXIT.usage,
  E_BUS_CONFIG: EXIT.usage,
  E_NOT_FOUND: EXIT.notFound,
  E_CONFLICT: EXIT.conflict,
  E_BUS_UNREACHABLE: EXIT.unreachable,
  E_BUS_SERVER_TOO_OLD: EXIT.unreachable,
  E_BUS_TIMEOUT: EXIT.unreachable,
  E_BUS_UNKNOWN_OUTCOME: EXIT.unreachable,
  E_BUS_CLOSED: EXIT.unreachable,
  E_BUS_NO_BUCKET: EXIT.unreachable,
  E_BUS_SNAPSHOT_INCOMPLETE: EXIT.unreachable,
  E_BUS_AUTH: EXIT.refused,
  E_MANIFEST: EXIT.badDocument,
  E_TAG_TAKEN: EXIT.conflict,
  E_FETCH_URL: EXIT.usage,
  E_FETCH_CA_FILE: EXIT.usage,
  E_FETCH_LOGIN: EXIT.refused,
  E_OUTPUT_CLOSED: EXIT.outputClosed,
};

function hintsOf(code: string, settings: ConnectionSettings | undefined): string[] {
  switch (code) {
    case "E_BUS_UNREACHABLE":
    case "E_BUS_UNKNOWN_OUTCOME":
      return ["the connection was lost on the way: look at what was done with fleetctl get, and go on from there"];
    case "E_BUS_TIMEOUT":
    case "E_BUS_SNAPSHOT_INCOMPLETE":
      return ["the server was reached, and then did not answer in time; try again, and look at its load and its log"];
    case "E_BUS_NO_BUCKET":
      return [
        "buckets are made by fleet-operator: start it once against this server",
        "a login that may not read a bucket gets the same answer: use the login of an administrator of the fleet",
      ];
    case "E_BUS_AUTH":
      return [`${loginText(settings)}; check it, or use another one: fleetctl --help lists the ways`];
    case "E_BUS_FULL":
      return ["the bucket is full: raise fleetSize in the configuration of fleet-operator and restart it"];
    case "E_STORE_MALFORMED":
      return ["fleetctl delete removes such a document; a device comes back by itself, a release is applied again"];
    case "E_TAG_TAKEN":
      return [
        "use another tag; --force moves this one, and releases that name it by the tag then fail on every device",
      ];
    case "E_FETCH_LOGIN":
      return [
        "to push: --registry-user with --registry-password-file, or --registry-auth-file",
        "to inspect: devices pull without a login, so that the repository must be readable for everybody",
      ];
    case "E_FETCH_TLS":
      return ["if its certificate is signed by an authority of your own, name it with --registry-ca-file"];
    case "E_CONFLICT":
      return ["look at the present state with fleetctl get, and decide again"];
    default:
      return [];
  }
}

const STEP_HINTS: Readonly<Record<ConnectStep, (settings: ConnectionSettings) => string>> = {
  dns: () => "is the name right, and can this machine look it up? getent hosts NAME",
  network: () => "is nats-server running there, and does a firewall let this machine through?",
  tls: ({ caFile }) =>
    caFile === undefined
      ? "if its certificate is signed by an authority of your own, name it with --ca-file"
      : `is its certificate signed by an authority of ${caFile}, for the name in the URL, and valid today?`,
  nats: () => "something listens there and does not speak NATS in time: is it the right port, and is the server well?",
};

function unreachableHints(step: ConnectStep, settings: ConnectionSettings | undefined): string[] {
  if (settings === undefined) return [];
  const { servers, serversFrom, timeoutMs } = settings;
  const hints = [`tried ${servers.join(", ")} (from ${serversFrom}), at most ${timeoutMs / 1_000} s`];
  if (serversFrom === "the default") hints.push("name the fleet's servers with --server or FLEETCTL_SERVERS");
  return [...hints, STEP_HINTS[step](settings)];
}

function loginText(settings: ConnectionSettings | undefined): string {
  const auth = settings?.auth;
  const fileOf = (secret: { readonly file: string } | { readonly value: string }) =>
    "file" in secret ? ` of ${secret.file}` : "";
  switch (auth?.kind) {
    case "password":
      return `logged in as ${auth.user} with the password${fileOf(auth.password)}`;
    case "token":
      return `logged in with the token${fileOf(auth.token)}`;
    case "credentials":
      return `logged in with the credentials${fileOf(auth.credentials)}`;
    default:
      return "logged in without a user: give one with --user and --password-file, --token-file or --creds-file";
  }
}
