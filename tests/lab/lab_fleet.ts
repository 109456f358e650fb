/**
 * A fleet of one device in the lab: a real nats-server and artifact host on this machine, and a booted device with the
 * units, the updater and the agent installed.
 *
 * @module
 */
import { createHash } from "node:crypto";
import type { AgentUpgradeAttempt, AgentUpgradeStatus } from "../../contracts/agent_upgrade.ts";
import { BUCKETS, deviceKey } from "../../contracts/buckets.ts";
import { isFleetError } from "../../contracts/errors.ts";
import type { BinaryForm } from "../../contracts/formats.ts";
import { managedPaths } from "../../contracts/managed_paths.ts";
import type { UpdaterState } from "../../contracts/updater_protocol.ts";
import { askUpdater } from "../fleet/ask_updater.ts";
import { type AgentBuild, defectPrelude } from "../fleet/agent_builds.ts";
import { FAST_AGENT, FAST_UPDATER, Fleet } from "../fleet/fleet.ts";
import { waitUntil } from "../nats/wait_until.ts";
import { BEHAVIOUR_FILE, type LabBehaviour, labPrelude } from "./lab_agent.ts";
import type { Device, DeviceKind, DeviceRun } from "./device.ts";
import { CONTAINERS } from "./lab_device.ts";
import type { LabSystem } from "./lab_image.ts";
import { buildLabProgram, type LabProgram } from "./lab_program.ts";
import { makeLabRelease } from "./lab_release.ts";

/** The one device of a lab fleet. */
export const DEVICE_ID = "lab-1";
/** Where a device has its deno, and where the same file stands besides. */
const DENO_PATH = "/usr/lib/harmony-fleet/deno";
const DENO_COPY = "/mnt/deno";
const SHARE = "/mnt/share";

/** The units. */
export const AGENT = "fleet-agent.service";
/** The units. */
export const UPDATER = "fleet-updater.service";

/** What a lab fleet is made of. */
export interface LabFleetOptions {
  readonly system: LabSystem;
  /** Default containers */
  readonly kind?: DeviceKind;
  /** Version that the device begins with. Default `1.0.0` */
  readonly baseline?: string;
  /** Form of what the device begins with. Default `script` */
  readonly form?: BinaryForm;
  /** JavaScript in front of the updater: how one of another age speaks. */
  readonly updaterPrelude?: string;
  /** `TimeoutStartSec=` of the agent's unit, in seconds. Default 20 */
  readonly startTimeoutSec?: number;
  /** `TimeoutStopSec=` of the agent's unit, in seconds. Default 10 */
  readonly stopTimeoutSec?: number;
  /** More lines of a drop-in for the agent's unit. */
  readonly agentDropIn?: string;
  /** Lines of a drop-in for the updater's unit. */
  readonly updaterDropIn?: string;
  /** Bounds of the updater, beside those that follow from the unit's. */
  readonly updaterBounds?: Readonly<Record<string, number>>;
  readonly agentBounds?: Readonly<Record<string, number>>;
  /** More options of install.sh. */
  readonly setupOptions?: string;
}

/** An agent to be published. */
export type LabBuild = Omit<AgentBuild, "denoPath"> & Pick<LabProgram, "form" | "arch">;

/** A release folder that the device sees. */
export interface LabRelease {
  readonly version: string;
  readonly form: BinaryForm;
}

/** Where the device sees a release. */
function releaseFolder({ version, form }: LabRelease): string {
  return `release-${version}-${form}`;
}

/** install.sh of a release, as a person would call it. */
function setupCommand(release: LabRelease, options: string): string {
  const deno = release.form === "script" ? `--deno ${DENO_COPY}` : "";
  return `sh ${SHARE}/${releaseFolder(release)}/install.sh --form ${release.form} ${deno} ${options}`;
}

/** A running lab fleet. */
export class LabFleet implements AsyncDisposable {
  readonly fleet: Fleet;
  readonly device: Device;
  readonly kind: DeviceKind;
  readonly paths = managedPaths();
  readonly denoPath = DENO_PATH;
  readonly denoCopy = DENO_COPY;
  readonly #baseline: LabRelease;
  readonly #stack: AsyncDisposableStack;

  private constructor(
    fleet: Fleet,
    device: Device,
    kind: DeviceKind,
    baseline: LabRelease,
    stack: AsyncDisposableStack,
  ) {
    this.kind = kind;
    this.fleet = fleet;
    this.#baseline = baseline;
    this.device = device;
    this.#stack = stack;
  }

  /**
   * Boots and installs a device, and waits until its agent is READY.
   *
   * @param options System, bounds
   */
  static async start(options: LabFleetOptions): Promise<LabFleet> {
    const baseline = { version: options.baseline ?? "1.0.0", form: options.form ?? "script" } as const;
    const { kind = CONTAINERS } = options;
    await using stack = new AsyncDisposableStack();
    const deno = await Deno.realPath(Deno.execPath());
    const device = stack.use(await kind.create({ system: options.system, binds: { [DENO_COPY]: deno } }));
    // Its files are in the device's folder, where they go with it.
    const directory = `${device.directory}/fleet`;
    await Deno.mkdir(directory);
    const fleet = stack.use(
      await Fleet.start({
        deviceIds: [],
        foreignDeviceIds: [DEVICE_ID],
        directory,
        address: kind.hostAddress,
      }),
    );
    const share = `${directory}/share`;
    await Deno.mkdir(share);
    device.share(SHARE, share);
    await device.boot();
    const lab = new LabFleet(fleet, device, kind, baseline, stack.move());
    try {
      await lab.makeRelease(baseline, options.updaterPrelude);
      await lab.#install(share, options);
      await lab.agentReady(baseline.version, 30_000 * kind.patience);
    } catch (error) {
      const evidence = await lab.evidence();
      await lab[Symbol.asyncDispose]();
      throw new Error(`Cannot install the device:\n${evidence}`, { cause: error });
    }
    return lab;
  }

  /** The options with which install.sh is told what the device is and where its servers are. */
  get configuration(): string {
    const server = this.fleet.server.url.replace("127.0.0.1", this.kind.hostAddress);
    const login = `--nats-user ${DEVICE_ID} --nats-password-file ${SHARE}/nats-password`;
    return `--device-id ${DEVICE_ID} --nats-server ${server} ${login} --artifact-ca-file ${SHARE}/ca.pem`;
  }

  /** As a person would: install.sh from a release folder. Then bounds are lowered, which no person does. */
  async #install(share: string, options: LabFleetOptions): Promise<void> {
    const { fleet, device } = this;
    const { startTimeoutSec = 20, stopTimeoutSec = 10 } = options;
    await Deno.copyFile(fleet.artifactCaFile, `${share}/ca.pem`);
    await Deno.writeTextFile(`${share}/nats-password`, fleet.passwords.get(DEVICE_ID) ?? "");
    await device.refresh();
    // A boot clears /tmp, also under the feet of an installer.
    await device.exec(["systemctl", "is-system-running", "--wait"]);
    await device.sh(setupCommand(this.#baseline, `${this.configuration} --no-start ${options.setupOptions ?? ""}`));
    await this.#lowerBounds(this.paths.agentConfig, options.agentBounds ?? FAST_AGENT);
    await this.#lowerBounds(this.paths.updaterConfig, {
      rollbackRetryMinMs: FAST_UPDATER.rollbackRetryMinMs,
      rollbackRetryMaxMs: FAST_UPDATER.rollbackRetryMaxMs,
      startTimeoutMs: startTimeoutSec * 1_000,
      stopTimeoutMs: stopTimeoutSec * 1_000,
      ...options.updaterBounds,
    });
    const bounds = `TimeoutStartSec=${startTimeoutSec}s\nTimeoutStopSec=${stopTimeoutSec}s\n`;
    await this.#dropIn(AGENT, `${bounds}${options.agentDropIn ?? ""}`);
    if (options.updaterDropIn !== undefined) await this.#dropIn(UPDATER, options.updaterDropIn);
    await device.sh(`systemctl daemon-reload && systemctl start --no-block ${UPDATER} ${AGENT}`);
  }

  async #dropIn(unit: string, lines: string): Promise<void> {
    await this.device.sh(`mkdir -p /etc/systemd/system/${unit}.d`);
    await this.device.write(`/etc/systemd/system/${unit}.d/lab.conf`, `[Service]\n${lines}`);
  }

  /** Makes a release folder that the device sees from then on. */
  async makeRelease(release: LabRelease, updaterPrelude?: string): Promise<void> {
    await makeLabRelease(`${this.fleet.directory}/share/${releaseFolder(release)}`, {
      ...release,
      denoPath: DENO_PATH,
      ...(updaterPrelude === undefined ? {} : { updaterPrelude }),
    });
    await this.device.refresh();
  }

  /** install.sh of a release, by default the one that the device was installed from. */
  installAgain(options = "", release = this.#baseline): Promise<DeviceRun> {
    return this.device.exec(["sh", "-c", setupCommand(release, options)]);
  }

  /** Writes into the file that is there, so that owner and mode stay. */
  async #lowerBounds(path: string, bounds: Readonly<Record<string, number>>): Promise<void> {
    const config = JSON.parse(await this.device.sh(`cat ${path}`)) as Record<string, unknown>;
    await this.device.write(path, JSON.stringify({ ...config, bounds }), "0640");
  }

  /** Says what agents of each version do from their next start on. */
  async behave(behaviour: Readonly<Record<string, LabBehaviour>>): Promise<void> {
    await this.device.write(BEHAVIOUR_FILE, JSON.stringify(behaviour));
  }

  /** Waits until the unit is active with an agent of a version, which has said so in NATS. */
  async agentReady(version: string, timeoutMs = 60_000 * this.kind.patience): Promise<void> {
    await waitUntil(
      `agent ${version} to be ready`,
      async () => {
        if (await this.device.property(AGENT, "ActiveState") !== "active") return false;
        const text = await this.document(BUCKETS.deviceInfo);
        return text.includes('"step":"ready"') && text.includes(`"agentVersion":"${version}"`);
      },
      timeoutMs,
      this.kind.lookIntervalMs,
    );
  }

  /** Waits until systemd has started the agent by itself more often than before. */
  async restarted(before: number): Promise<void> {
    await waitUntil("a restart", async () => Number(await this.device.property(AGENT, "NRestarts")) > before, 30_000);
  }

  /** A document of the device, as text; empty when there is none, or no connection. */
  async document(name: (typeof BUCKETS)[keyof typeof BUCKETS]): Promise<string> {
    try {
      const entry = await (await this.fleet.bus.bucket(name)).get(deviceKey(DEVICE_ID));
      return entry === null ? "" : new TextDecoder().decode(entry.value);
    } catch (error) {
      if (isFleetError(error) && error.retry === "transient") return "";
      throw error;
    }
  }

  /** Builds an agent, and puts it on the artifact host. */
  async publish(
    build: LabBuild,
  ): Promise<{ readonly url: string; readonly sha256: string; readonly sizeBytes: number }> {
    const { version, defect, form, arch } = build;
    const defective = defect === undefined ? [] : defectPrelude(defect, version);
    const outPath = await Deno.makeTempFile({ dir: this.fleet.directory });
    await buildLabProgram({
      program: "fleet-agent",
      version,
      outPath,
      denoPath: DENO_PATH,
      prelude: [labPrelude(version), defective, build.prelude ?? []].flat().join("\n"),
      ...(form === undefined ? {} : { form }),
      ...(arch === undefined ? {} : { arch }),
    });
    const bytes = await Deno.readFile(outPath);
    await Deno.remove(outPath);
    const url = this.fleet.host.answer(`/${crypto.randomUUID()}/fleet-agent-${version}`, { kind: "file", bytes });
    return { url, sha256: createHash("sha256").update(bytes).digest("hex"), sizeBytes: bytes.byteLength };
  }

  /** Writes an intent for a published agent. */
  async upgrade(
    version: string,
    artifact: { readonly url: string; readonly sha256: string; readonly sizeBytes: number },
    overrides: Partial<AgentUpgradeAttempt> = {},
  ): Promise<AgentUpgradeAttempt> {
    const attempt = this.fleet.attempt(DEVICE_ID, version, artifact, overrides);
    await this.fleet.send(attempt);
    return attempt;
  }

  /** Publishes an agent and writes an intent for it. */
  async release(build: LabBuild): Promise<AgentUpgradeAttempt> {
    return await this.upgrade(build.version, await this.publish(build));
  }

  /** Waits until the device has published the end of an attempt. */
  ended({ attemptId }: AgentUpgradeAttempt, timeoutMs = 90_000 * this.kind.patience): Promise<AgentUpgradeStatus> {
    return this.fleet.waitForStatus(
      DEVICE_ID,
      "an end",
      (status) => status.attemptId === attemptId && ["complete", "failed", "rollback-failed"].includes(status.phase),
      timeoutMs,
      this.kind.lookIntervalMs,
    );
  }

  /** The updater's state, or null while it does not answer. */
  async state(): Promise<UpdaterState | null> {
    if (!this.device.isOn) return null;
    return await askUpdater(this.device.hostPath(this.paths.updaterSocket));
  }

  /** Waits until the updater shows a public phase of an attempt. */
  inPhase(
    { attemptId }: AgentUpgradeAttempt,
    phase: string,
    timeoutMs = 60_000 * this.kind.patience,
  ): Promise<UpdaterState> {
    return waitUntil(
      `the phase ${phase}`,
      async () => {
        const state = await this.state();
        const status = state?.transaction?.status;
        return state !== null && status?.attemptId === attemptId && status.phase === phase ? state : null;
      },
      timeoutMs,
      this.kind.lookIntervalMs,
    );
  }

  /** The device's last heartbeat, as text; empty when there is none. */
  heartbeat(): Promise<string> {
    return this.document(BUCKETS.deviceHeartbeat);
  }

  /** Version that the link selects. */
  async selected(): Promise<string> {
    return (await this.device.sh(`readlink ${this.paths.agentLink}`)).replace(/^.*fleet-agent-v/, "");
  }

  /** What there is to see on the device when a scenario has failed. */
  async evidence(): Promise<string> {
    if (!this.device.isOn) return "the device is off\n";
    const script = `systemctl status ${AGENT} ${UPDATER} --no-pager --lines=0 2>&1; cat ${this.paths.journal}; echo
      journalctl --no-pager -o short-precise -u ${AGENT} -u ${UPDATER} -u 'fleet-system-upgrade*' -n 80`;
    return (await this.device.exec(["sh", "-c", script])).stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}
