/**
 * A task run as a person starts it: `fleetctl`, the operator, the agent, the updater and apt, each as it is (issue 6).
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { FleetctlProgram } from "../../fleet/fleetctl_program.ts";
import { FleetOperator } from "../../fleet/fleet_operator.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { REPOSITORY_TOOLS } from "../apt_repository.ts";
import { DEVICE_ID, type LabFleet } from "../lab_fleet.ts";
import type { Scenario } from "../scenario.ts";
import { FAST_APT, withApt } from "../system_upgrade_lab.ts";

const APP = { name: "lab-app", version: "1.0" } as const;
const GROUP = "lab";

const DEVICE_FILE = `apiVersion: fleet.nationtech.io/v1alpha1
kind: Device
metadata: {name: ${DEVICE_ID}, labels: {canary: "true"}}
spec: {groups: [${GROUP}]}
`;

/** Runs `fleetctl` and gives back what it printed. */
type Fleetctl = (...args: readonly string[]) => Promise<string>;

/** The fleet of a device with the operator at work. */
async function withOperator(lab: LabFleet, story: (fleetctl: Fleetctl) => Promise<void>): Promise<void> {
  const { directory, operatorPassword: password, server: { url } } = lab.fleet;
  const login = { directory, servers: [url], user: "operator", password };
  const program = await FleetctlProgram.create(login);
  await using operator = await FleetOperator.create({ ...login, fleetSize: 10 });
  operator.start();
  const fleetctl: Fleetctl = async (...args) => {
    const { code, err, out } = await program.run(args, { cwd: directory });
    if (code !== 0) throw new Error(`fleetctl ${args.join(" ")} exited with ${code}: ${err}`);
    return out;
  };
  await waitUntil("the device to be known", async () => (await program.run(["get", "device", DEVICE_ID])).code === 0);
  await Deno.writeTextFile(`${directory}/device.yaml`, DEVICE_FILE);
  await fleetctl("apply", "-f", "device.yaml");
  await story(fleetctl);
}

/** Waits until a run has ended. @returns phase, reason, and its counts of targets */
async function runEnd(lab: LabFleet, fleetctl: Fleetctl, name: string): Promise<string> {
  const { status } = await waitUntil(
    `the end of ${name}`,
    async () => {
      const run = JSON.parse(await fleetctl("get", "task", name, "-o", "json"));
      return run.status?.phase === "Complete" || run.status?.phase === "Failed" ? run : null;
    },
    60_000 * lab.kind.patience,
    lab.kind.lookIntervalMs,
  );
  const { phase, reason = "-", targets, succeeded, failed, lastError = "no error" } = status;
  return `${phase} ${reason} ${succeeded}/${targets}, ${failed} failed, ${lastError}`;
}

const personsRun: Scenario = {
  name: "task-run",
  title: "fleetctl task run: the operator plans and releases, the device upgrades and reboots, the run is Complete",
  options: { updaterBounds: FAST_APT },
  async run(lab) {
    await withApt(lab, [APP], (apt) =>
      withOperator(lab, async (fleetctl) => {
        await apt.repository.add({ ...APP, version: "2.0" });
        await fleetctl("task", "run", "first", "--group", GROUP, "--yes");
        await apt.reboots();
        assertEquals(await runEnd(lab, fleetctl, "first"), "Complete AllSucceeded 1/1, 0 failed, no error");
        assertEquals(await apt.version("lab-app"), "2.0");
        const boot = await lab.device.sh("cat /proc/sys/kernel/random/boot_id");
        await fleetctl("task", "run", "second", "--group", GROUP, "--yes");
        assertEquals(await runEnd(lab, fleetctl, "second"), "Complete AllSucceeded 1/1, 0 failed, no error");
        assertEquals(await lab.device.sh("cat /proc/sys/kernel/random/boot_id"), boot);
        await apt.repository.setFault("other-key");
        await fleetctl("task", "run", "third", "--group", GROUP, "--yes");
        const failed = await runEnd(lab, fleetctl, "third");
        assertEquals(failed.split(",").slice(0, 2).join(), "Failed CanaryFailed 0/1, 1 failed");
        const listed = await fleetctl("task", "devices", "third", "--phase", "failed", "-o", "name");
        assertEquals(listed.trim(), `device/${DEVICE_ID}`);
      }));
  },
};

/** Every scenario of task runs. */
export const TASK_RUNS: readonly Scenario[] = [{ ...personsRun, tools: REPOSITORY_TOOLS }];
