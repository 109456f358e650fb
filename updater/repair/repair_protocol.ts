/**
 * What `fleet-updater repair` speaks with the live updater over the root-only `repair.sock`, in the framing of the
 * updater's socket. It is no contract for other programs: both ends are the same release.
 *
 * @module
 */
import { type Decoded, type Decoder, flag, integer, list, object, oneOf, optional } from "../../contracts/codec.ts";
import { absolutePath, detail, shortText, version } from "../../contracts/formats.ts";
import { BINARIES_SHOWN_MAX } from "../../contracts/limits.ts";
import { updaterRefusal, updaterState } from "../../contracts/updater_protocol.ts";

/** Decodes a request: show everything, or select a version and start it. */
export const repairRequest: Decoder<RepairRequest> = (value, path) => {
  const { request } = object({ protocol: integer(1), request: oneOf(["show", "select"]) })(value, path);
  return request === "show" ? { request } : { request, version: object({ version })(value, path).version };
};
/** A request. */
export type RepairRequest = { readonly request: "show" } | { readonly request: "select"; readonly version: string };

/** Decodes everything that root looks at before a repair (seed: journal, link, managed binaries, units). */
export const repairReport = object({
  state: updaterState,
  /** What the link selects; absent when there is no link. */
  selectedPath: optional(absolutePath),
  binaries: list(object({ version, path: absolutePath, sizeBytes: integer(0) }), BINARIES_SHOWN_MAX),
  /** Binaries that are there but not shown. */
  moreBinaries: integer(0),
  service: object({ unit: shortText, active: shortText, restarts: integer(0), statusText: optional(detail) }),
});
/** Everything that root looks at before a repair. */
export type RepairReport = Decoded<typeof repairReport>;

const success = object({ report: repairReport });
const failure = object({ error: updaterRefusal });

/** Decodes a response. */
export const repairResponse: Decoder<RepairResponse> = (value, path) => {
  const { ok } = object({ ok: flag })(value, path);
  return ok ? { ok, ...success(value, path) } : { ok, ...failure(value, path) };
};
/** A response. */
export type RepairResponse =
  | { readonly ok: true; readonly report: RepairReport }
  | { readonly ok: false; readonly error: Decoded<typeof updaterRefusal> };
