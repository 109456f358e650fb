/**
 * The fleet of the demo: broker, artifact host, operator, devices, and `fleetctl` with its configuration.
 *
 * @module
 */
import { bundleProgram } from "../../build/bundle.ts";
import { PROGRAMS } from "../../build/programs.ts";
import { type AgentUpgradeAttempt, agentUpgradeAttempt } from "../../contracts/agent_upgrade.ts";
import { BUCKETS, deviceKey } from "../../contracts/buckets.ts";
import { decodeBytes } from "../../contracts/codec.ts";
import type { Device } from "../../contracts/device_resource.ts";
import { ATTEMPT_MAX_BYTES } from "../../contracts/limits.ts";
import { EmbeddedStore } from "../../operator/stores/embedded.ts";
import type { AgentBuild } from "../../tests/fleet/agent_builds.ts";
import { FAST_UPDATER, Fleet } from "../../tests/fleet/fleet.ts";
import { FleetOperator } from "../../tests/fleet/fleet_operator.ts";
import { FleetctlProgram } from "../../tests/fleet/fleetctl_program.ts";
import { devicesManifest, releaseManifest, type ReleaseText } from "./manifests.ts";
import { killOwnProcesses } from "./own_processes.ts";

/** The devices. */
export const DEVICE_IDS: readonly string[] = ["device-1", "device-2", "device-3", "device-4", "device-5"];
/** The group that authorizes them. */
export const GROUP = "demo";
/** A candidate that never says READY is given up after this, in ms; the product waits four minutes. */
export const START_TIMEOUT_MS = 10_000;

/** A release whose artifact stands on the artifact host and whose document stands in {@link DemoWorld.manifests}. */
export interface PublishedRelease {
  readonly file: string;
  readonly text: string;
  readonly artifactBytes: number;
}

/** What a release is made of; what it says of its artifact may be wrong on purpose. */
export interface ReleasePlan {
  readonly name: string;
  readonly build: AgentBuild;
  /** Version that the release names. Default the build's */
  readonly claims?: string;
  /** Default the right one. */
  readonly sha256?: string;
  /** Bytes that the release allows beside those that the artifact has. Default 0 */
  readonly maxBytesChange?: number;
  readonly deviceId?: string;
  readonly priority?: number;
}

/** A running fleet. */
export class DemoWorld {
  readonly fleet: Fleet;
  readonly operator: FleetOperator;
  readonly fleetctl: FleetctlProgram;
  /** Directory of the documents; commands run in it. */
  readonly manifests: string;
  readonly #store: EmbeddedStore;

  private constructor(fleet: Fleet, operator: FleetOperator, fleetctl: FleetctlProgram, store: EmbeddedStore) {
    this.fleet = fleet;
    this.operator = operator;
    this.fleetctl = fleetctl;
    this.manifests = `${fleet.directory}/manifests`;
    this.#store = store;
  }

  /**
   * Builds the programs and starts everything. A start that fails stops what it has started.
   *
   * @param directory Where everything goes
   * @param signal Ends a start that is under way
   * @param onStep Told what is done
   */
  static async start(directory: string, signal: AbortSignal, onStep: (what: string) => void): Promise<DemoWorld> {
    onStep("building the four programs");
    await Promise.all(Object.values(PROGRAMS).map(({ name, entryPoint }) => bundleProgram({ name, entryPoint })));
    signal.throwIfAborted();
    onStep("starting nats-server, the artifact host and five devices");
    await using undo = new AsyncDisposableStack();
    const updaterBounds = { ...FAST_UPDATER, startTimeoutMs: START_TIMEOUT_MS };
    const fleet = undo.use(await Fleet.start({ deviceIds: DEVICE_IDS, updaterBounds, directory, signal }));
    const { server: { url }, operatorPassword: password } = fleet;
    const login = { directory, servers: [url], user: "operator", password };
    const operator = undo.use(await FleetOperator.create({ ...login, fleetSize: DEVICE_IDS.length }));
    operator.start();
    const fleetctl = await FleetctlProgram.create(login);
    const store = new EmbeddedStore(await fleet.bus.bucket(BUCKETS.resources));
    const world = new DemoWorld(fleet, operator, fleetctl, store);
    await Deno.mkdir(world.manifests);
    await Deno.writeTextFile(`${world.manifests}/devices.yaml`, devicesManifest(DEVICE_IDS, GROUP));
    signal.throwIfAborted();
    undo.move();
    return world;
  }

  /** Directory of everything. */
  get directory(): string {
    return this.fleet.directory;
  }

  /** Builds an agent, puts it on the artifact host, and writes the document of its release. */
  async publish(plan: ReleasePlan): Promise<PublishedRelease> {
    const { name, build, claims = build.version, sha256, maxBytesChange = 0, deviceId, priority } = plan;
    const artifact = await this.fleet.publish(build);
    const release: ReleaseText = {
      name,
      version: claims,
      url: artifact.url,
      sha256: sha256 ?? artifact.sha256,
      maxBytes: artifact.sizeBytes + maxBytesChange,
      group: GROUP,
      ...(deviceId === undefined ? {} : { deviceId }),
      ...(priority === undefined ? {} : { priority }),
    };
    const file = `${name}.yaml`;
    const text = releaseManifest(release, Deno.build.arch);
    await Deno.writeTextFile(`${this.manifests}/${file}`, text);
    return { file, text, artifactBytes: artifact.sizeBytes };
  }

  /** The resources of the devices, in order of name. */
  async devices(): Promise<Device[]> {
    return await this.#store.list("Device");
  }

  /** The resource of a device, or null. */
  async device(id: string): Promise<Device | null> {
    return await this.#store.get("Device", id);
  }

  /** The attempt that the operator has written for a device, or null. */
  async intent(id: string): Promise<AgentUpgradeAttempt | null> {
    const entry = await (await this.fleet.bus.bucket(BUCKETS.upgradeIntent)).get(deviceKey(id));
    return entry === null ? null : decodeBytes(agentUpgradeAttempt, entry.value, ATTEMPT_MAX_BYTES);
  }

  /** A program that has ended although it should run, with its log; null while all run. */
  get ended(): { readonly program: string; readonly logFile: string } | null {
    if (this.operator.child?.hasEnded) return { program: "fleet-operator", logFile: this.operator.logFile };
    const device = this.fleet.devices.find(({ updater }) => updater?.hasEnded);
    return device === undefined ? null : { program: `fleet-updater of ${device.id}`, logFile: device.updaterLog };
  }

  /** Stops everything; what does not stop is killed. The directory stays. */
  async close(): Promise<void> {
    try {
      await Promise.all([this.operator.stop(), this.fleet.close()]);
    } finally {
      await killOwnProcesses(this.directory);
    }
  }
}
