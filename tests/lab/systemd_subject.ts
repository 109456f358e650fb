/**
 * The systemd adapter with a unit of its own on a device in the lab, for the conformance suite of service managers.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { createLogger } from "../../lib/log.ts";
import { systemClock } from "../../lib/deadline.ts";
import { runBounded } from "../../updater/process/run_bounded.ts";
import { isPopulated } from "../../updater/systemd/control_group.ts";
import { systemdService } from "../../updater/systemd/systemd_service.ts";
import { systemTool } from "../../updater/systemd/system_tool.ts";
import type { ServiceSubject, SubjectBounds } from "../conformance/service_manager.ts";
import { programEnvironment, programScript } from "../fakes/process_service_subject.ts";
import { LabDevice } from "./lab_device.ts";
import type { LabSystem } from "./lab_image.ts";

const UNIT = "conformance.service";
const FOLDER = "/var/lib/conformance";
const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/*
 * The unit of the suite. A restart sooner than this could come before the result of the failed start has been read; the
 * product's own delay is 3 s.
 */
const RESTART_DELAY_MIN_MS = 700;

function unitText({ startTimeoutMs, stopTimeoutMs, restartDelayMs }: SubjectBounds): string {
  const environment = Object.entries({ ...programEnvironment(), NO_COLOR: "1" });
  return `[Unit]
StartLimitIntervalSec=0
[Service]
Type=notify
NotifyAccess=main
Restart=always
RestartSec=${Math.max(restartDelayMs, RESTART_DELAY_MIN_MS)}ms
TimeoutStartSec=${startTimeoutMs}ms
TimeoutStopSec=${stopTimeoutMs}ms
ExecStart=${FOLDER}/program --config ${FOLDER}/config.json
${environment.map(([name, value]) => `Environment=${name}=${value}`).join("\n")}
`;
}

/** Devices that a suite shares: one per system, booted when it is first asked for. */
export class SharedDevice implements AsyncDisposable {
  #device: Promise<LabDevice> | null = null;

  constructor(readonly system: LabSystem) {}

  /** The device. */
  get(): Promise<LabDevice> {
    this.#device ??= this.#boot();
    return this.#device;
  }

  async #boot(): Promise<LabDevice> {
    const deno = await Deno.realPath(Deno.execPath());
    const cache = Deno.env.get("DENO_DIR") ?? "";
    const device = await LabDevice.create({
      system: this.system,
      binds: {
        [REPOSITORY]: REPOSITORY,
        [deno]: deno,
        [Deno.execPath()]: deno,
        ...(cache === "" ? {} : { [cache]: cache }),
      },
    });
    await device.boot();
    await device.sh(`mkdir -p ${FOLDER}`);
    await device.write(`${FOLDER}/program`, programScript(), "0755");
    return device;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#device)?.[Symbol.asyncDispose]();
  }
}

/**
 * Makes a subject on a device, with the unit in its first state.
 *
 * @param device The device
 * @param bounds Times of the unit
 */
export async function createSystemdSubject(device: LabDevice, bounds: SubjectBounds): Promise<ServiceSubject> {
  await device.write(`/run/systemd/system/${UNIT}`, unitText(bounds));
  await device.sh(`rm -f ${FOLDER}/config.json.starts; systemctl daemon-reload`);
  const manager = systemdService({
    log: createLogger({ sink: () => {} }),
    unit: UNIT,
    bounds,
    tool: systemTool(systemClock, (command, limits) => runBounded(device.command(command), limits)),
    isPopulated: async (group) =>
      isPopulated((await device.exec(["cat", `/sys/fs/cgroup${group}/cgroup.events`])).stdout),
  });
  return {
    manager,
    use: (program) => device.write(`${FOLDER}/config.json`, JSON.stringify(program)),
    crash: async () => void await device.sh(`kill -9 ${await device.property(UNIT, "MainPID")}`),
    starts: async () => Number(await device.sh(`cat ${FOLDER}/config.json.starts 2>/dev/null | wc -l`)),
    living: async () => {
      const group = await device.property(UNIT, "ControlGroup");
      return group === "" ? 0 : Number(await device.sh(`cat /sys/fs/cgroup${group}/cgroup.procs 2>/dev/null | wc -l`));
    },
    [Symbol.asyncDispose]: async () => {
      await manager.close();
      await device.sh(`systemctl stop ${UNIT}; systemctl reset-failed ${UNIT} 2>/dev/null || true`);
      await device.sh(`rm /run/systemd/system/${UNIT}; systemctl daemon-reload`);
    },
  };
}
