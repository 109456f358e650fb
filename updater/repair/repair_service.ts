/**
 * Root's way out of `rollback-failed`, inside the live updater: select a binary, start it, and lift the quarantine only
 * after its READY (`Fleet agent upgrades`, Recovery; DESIGN 5, Repair).
 *
 * @module
 */
import { binaryPath, type ManagedPaths } from "../../contracts/managed_paths.ts";
import type { UpdaterState } from "../../contracts/updater_protocol.ts";
import { bounded } from "../../contracts/formats.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import { refuse } from "../core/admission.ts";
import type { Interpreter } from "../interpreter.ts";
import type { ServiceManager } from "../ports.ts";
import { installedBinaries } from "./installed_binaries.ts";
import type { RepairReport, RepairRequest, RepairResponse } from "./repair_protocol.ts";

/** What the service works with. */
export interface RepairServiceOptions {
  readonly interpreter: Interpreter;
  readonly services: ServiceManager;
  readonly fs: FileSystem;
  readonly paths: ManagedPaths;
  /** The updater's state, as its socket shows it. */
  readonly state: () => UpdaterState;
}

/** Answers the requests of the repair socket. */
export class RepairService {
  readonly #options: RepairServiceOptions;
  #repairing = false;

  constructor(options: RepairServiceOptions) {
    this.#options = options;
  }

  /**
   * Answers one request.
   *
   * @param request The request
   */
  async handle(request: RepairRequest): Promise<RepairResponse> {
    if (request.request === "show") return { ok: true, report: await this.#report() };
    if (this.#repairing) return refused("another repair is under way");
    this.#repairing = true;
    try {
      return await this.#select(request.version);
    } finally {
      this.#repairing = false;
    }
  }

  async #select(version: string): Promise<RepairResponse> {
    const { interpreter, fs, paths } = this.#options;
    const phase = interpreter.record.transaction?.phase;
    if (phase !== "rollback-failed") {
      return refused(`there is nothing to repair: the transaction is ${phase ?? "none"}, not rollback-failed`);
    }
    const path = binaryPath(paths, version);
    if ((await fs.stat(path))?.kind !== "file") {
      return refused(`version ${version} is not installed: ${path} is not there`);
    }
    await interpreter.take({ kind: "RepairRequested", path });
    await interpreter.settled();
    const after = interpreter.record.transaction;
    if (after?.phase === "failed") return { ok: true, report: await this.#report() };
    return refused(`version ${version} did not start: ${after?.detail ?? "the updater is stopping"}`);
  }

  async #report(): Promise<RepairReport> {
    const { services, fs, paths, state } = this.#options;
    const service = await services.show();
    const selectedPath = await fs.readLink(paths.agentLink);
    return {
      state: state(),
      ...(selectedPath === null ? {} : { selectedPath }),
      ...await installedBinaries(fs, paths),
      service: {
        unit: services.unit,
        active: service.active,
        restarts: service.restarts,
        ...(service.statusText === undefined ? {} : { statusText: bounded(service.statusText) }),
      },
    };
  }
}

function refused(message: string): RepairResponse {
  return { ok: false, error: refuse("E_REQUEST_INVALID", bounded(message), "internal") };
}
