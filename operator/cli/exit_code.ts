/**
 * Exit codes of `fleetctl`, so that scripts can tell what happened without reading texts. They never change meaning.
 *
 * @module
 */

import { EXIT_CODES } from "../../lib/program.ts";

/** Exit codes by name. */
export const EXIT = {
  ok: 0,
  /** Something failed that has no code of its own. */
  error: 1,
  /** The command line or the configuration is wrong; nothing was tried. */
  usage: 2,
  /** A named resource does not exist. */
  notFound: 3,
  /** The resource was changed by somebody else, and repeating the change would not be safe. */
  conflict: 4,
  /** NATS or a registry cannot be reached, or the fleet's buckets are not there yet. */
  unreachable: 5,
  /** NATS or a registry refuses the login, or what the login asks for. */
  refused: 6,
  /** A document is wrong; nothing was applied. */
  badDocument: 7,
  /** A device would refuse the artifact. */
  artifactRefused: 8,
  /** A defect of the program, as every program of the fleet ends with one. */
  defect: EXIT_CODES.internal,
  /** Ended by SIGINT, as shells count it. */
  interrupted: 130,
  /** Nobody reads the output any more, as shells count SIGPIPE. */
  outputClosed: 141,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** What each code means, for the help. */
export const EXIT_MEANINGS: readonly (readonly [ExitCode, string])[] = [
  [EXIT.ok, "ok"],
  [EXIT.error, "something failed"],
  [EXIT.usage, "wrong command line or configuration"],
  [EXIT.notFound, "no such device, release, deployment or task"],
  [EXIT.conflict, "changed by somebody else meanwhile"],
  [EXIT.unreachable, "NATS or a registry cannot be reached, or the fleet's buckets are not there yet"],
  [EXIT.refused, "login refused"],
  [EXIT.badDocument, "a document is wrong; nothing was applied"],
  [EXIT.artifactRefused, "a device would refuse the artifact"],
  [EXIT.defect, "a defect of fleetctl"],
  [EXIT.interrupted, "interrupted (143 for SIGTERM, 129 for SIGHUP)"],
];
