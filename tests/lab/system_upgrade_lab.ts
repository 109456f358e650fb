/**
 * What scenarios of system upgrades share: a device that gets its packages from a repository of the test alone, runs that
 * are written as the operator does, and the checks of their ends.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { BUCKETS, systemUpgradeKey } from "../../contracts/buckets.ts";
import { decodeBytes } from "../../contracts/codec.ts";
import { isFleetError } from "../../contracts/errors.ts";
import { SYSTEM_STATUS_MAX_BYTES } from "../../contracts/limits.ts";
import {
  APT_FULL_UPGRADE_V1,
  isTerminalSystemPhase,
  type SystemUpgradeAttempt,
  type SystemUpgradeStatus,
  systemUpgradeStatus,
} from "../../contracts/system_upgrade.ts";
import { waitUntil } from "../nats/wait_until.ts";
import { AptRepository, type LabPackage } from "./apt_repository.ts";
import { DEVICE_ID, type LabFleet } from "./lab_fleet.ts";

/** Bounds under which a scenario need not wait for the product's. */
export const FAST_APT = {
  rollbackRetryMinMs: 100,
  rollbackRetryMaxMs: 1_000,
  startTimeoutMs: 20_000,
  stopTimeoutMs: 10_000,
  aptFetchRetryMs: 500,
  aptLockTimeoutMs: 4_000,
  rebootRetryWindowMs: 4_000,
  rebootRetryMs: 500,
} as const;

/** A device that gets its packages from one repository. */
export class AptLab implements AsyncDisposable {
  readonly lab: LabFleet;
  readonly repository: AptRepository;

  private constructor(lab: LabFleet, repository: AptRepository) {
    this.lab = lab;
    this.repository = repository;
  }

  /**
   * Gives a device its repository, and installs packages from it.
   *
   * @param lab The fleet
   * @param packages What is installed
   */
  static async start(lab: LabFleet, ...packages: readonly LabPackage[]): Promise<AptLab> {
    const apt = new AptLab(lab, await AptRepository.start(lab.kind.hostAddress));
    const { device } = lab;
    await device.sh("rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/*; mkdir -p /etc/apt/keyrings");
    await device.write(apt.repository.keyPath, await apt.repository.key());
    await device.write("/etc/apt/sources.list", apt.repository.sourcesLine);
    await apt.repository.add(...packages);
    const names = packages.map(({ name }) => name).join(" ");
    await device.sh(`export DEBIAN_FRONTEND=noninteractive; apt-get update -q && apt-get install -qy ${names}`);
    const { lookIntervalMs, patience } = lab.kind;
    await waitUntil(
      "the capability",
      async () => (await lab.state())?.capabilities.includes(APT_FULL_UPGRADE_V1),
      10_000 * patience,
      lookIntervalMs,
    );
    return apt;
  }

  /** Writes an intent of a new run, as the operator does. */
  async request(overrides: Partial<SystemUpgradeAttempt> = {}): Promise<SystemUpgradeAttempt> {
    const runId = crypto.randomUUID();
    const nowMs = Date.now();
    const attempt: SystemUpgradeAttempt = {
      schema: 1,
      attemptId: runId,
      runId,
      deviceId: DEVICE_ID,
      operation: APT_FULL_UPGRADE_V1,
      createdAt: new Date(nowMs).toISOString(),
      expiresAt: new Date(nowMs + 3_600_000).toISOString(),
      ...overrides,
    };
    await this.send(attempt);
    return attempt;
  }

  /** Writes an intent again. */
  async send(attempt: SystemUpgradeAttempt): Promise<void> {
    const bucket = await this.lab.fleet.bus.bucket(BUCKETS.systemUpgradeIntent);
    const key = systemUpgradeKey(DEVICE_ID, attempt.runId);
    await bucket.put(key, new TextEncoder().encode(JSON.stringify(attempt)));
  }

  /** The status that the device has published of a run, or null. */
  async status({ runId }: SystemUpgradeAttempt): Promise<SystemUpgradeStatus | null> {
    try {
      const bucket = await this.lab.fleet.bus.bucket(BUCKETS.systemUpgradeStatus);
      const entry = await bucket.get(systemUpgradeKey(DEVICE_ID, runId));
      return entry === null ? null : decodeBytes(systemUpgradeStatus, entry.value, SYSTEM_STATUS_MAX_BYTES);
    } catch (error) {
      if (isFleetError(error) && error.retry === "transient") return null;
      throw error;
    }
  }

  /** Waits until the updater has a run in a phase. */
  async inPhase(
    { runId }: SystemUpgradeAttempt,
    phase: string,
    timeoutMs = 90_000 * this.lab.kind.patience,
  ): Promise<void> {
    await waitUntil(
      `the phase ${phase}`,
      async () => {
        const status = (await this.lab.state())?.systemUpgrade;
        if (status?.runId !== runId) return false;
        if (status.phase !== phase && isTerminalSystemPhase(status.phase)) {
          throw new Error(`the run is ${status.phase} ${status.reason}: ${status.error}`);
        }
        return status.phase === phase;
      },
      timeoutMs,
      this.lab.kind.lookIntervalMs,
    );
  }

  /** Switches the device on again once it has gone down for its reboot. */
  async reboots(): Promise<void> {
    await waitUntil("the device to go down", () => !this.lab.device.isOn, 120_000 * this.lab.kind.patience);
    await this.lab.device.boot();
  }

  /**
   * Waits for the published end of a run, with its first heartbeat where it succeeded, and checks it.
   *
   * @param attempt The run
   * @param expected Phase and reason, such as `failed DiskFull`
   */
  async ended(
    attempt: SystemUpgradeAttempt,
    expected: string,
    timeoutMs = 180_000 * this.lab.kind.patience,
  ): Promise<SystemUpgradeStatus> {
    const status = await waitUntil(
      `the end of the run`,
      async () => {
        const now = await this.status(attempt);
        if (now === null || !isTerminalSystemPhase(now.phase)) return null;
        return now.phase === "failed" || now.firstHeartbeat !== undefined ? now : null;
      },
      timeoutMs,
      this.lab.kind.lookIntervalMs,
    );
    const { phase, reason, error, failedCommand } = status;
    assertEquals(`${phase} ${reason}`, expected, `${error}\n${failedCommand?.lastLines?.join("\n")}`);
    return status;
  }

  /** A whole run that upgrades and reboots. */
  async upgrades(attempt: SystemUpgradeAttempt): Promise<SystemUpgradeStatus> {
    await this.reboots();
    const status = await this.ended(attempt, "succeeded Upgraded");
    const { bootIdBefore, bootIdAfter } = status.summary ?? {};
    assert(bootIdAfter !== undefined && bootIdBefore !== bootIdAfter, "the same boot");
    assertEquals(status.firstHeartbeat?.bootId, bootIdAfter);
    assertEquals(await this.lab.device.sh("dpkg --audit"), "");
    return status;
  }

  /** Installed version of a package; empty when it is not installed. */
  async version(name: string): Promise<string> {
    return (await this.lab.device.exec(["dpkg-query", "-W", "-f", "${Version}", name])).stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.repository[Symbol.asyncDispose]();
  }
}

/**
 * Runs a story on a device that gets its packages from one repository.
 *
 * @param lab The fleet
 * @param packages What is installed first
 * @param story The story
 */
export async function withApt(
  lab: LabFleet,
  packages: readonly LabPackage[],
  story: (apt: AptLab) => Promise<void>,
): Promise<void> {
  await using apt = await AptLab.start(lab, ...packages);
  await story(apt);
}
