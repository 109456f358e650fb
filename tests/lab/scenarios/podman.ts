/**
 * Rootless Podman beside the agent: what install.sh sets up, and whether the agent's sandbox reaches it.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { waitUntil } from "../../nats/wait_until.ts";
import { AGENT, type LabFleet } from "../lab_fleet.ts";
import { APP_IMAGE, askPodman, importAppImage, podmanSocket } from "../lab_podman.ts";
import { assertEnd, assertSound, type Scenario } from "../scenario.ts";

const CONTAINER = "app";
/** What a start of the agent's unit writes first, in the sandbox of the unit: Podman's answer to a ping. */
const ANSWER = "/var/lib/harmony-fleet/agent/podman-answer";

/** Asks the socket at every start of the agent, from where the agent is. */
async function askFromSandbox(lab: LabFleet): Promise<void> {
  const socket = await podmanSocket(lab.device);
  const command =
    `curl -sS --retry 30 --retry-all-errors --retry-delay 1 --unix-socket ${socket} http://d/libpod/_ping`;
  await lab.device.write(
    `/etc/systemd/system/${AGENT}.d/podman.conf`,
    `[Service]\nExecStartPre=-/bin/sh -c "rm -f ${ANSWER}; ${command} >${ANSWER}"\n`,
  );
  await lab.device.sh("systemctl daemon-reload");
}

async function assertAnswered(lab: LabFleet, version: string): Promise<void> {
  await assertSound(lab, version);
  assertEquals(await lab.device.sh(`cat ${ANSWER}`), "OK");
}

/** Process id of the container; 0 while it does not run. */
async function containerPid({ device }: LabFleet): Promise<number> {
  const { State } = JSON.parse(await askPodman(device, `GET /libpod/containers/${CONTAINER}/json`)) as {
    State: { Pid: number };
  };
  return State.Pid;
}

const podmanInSandbox: Scenario = {
  name: "podman-in-the-sandbox",
  title: "the agent's sandbox reaches rootless Podman, also one that comes late, and its containers outlive an upgrade",
  async run(lab) {
    const { device } = lab;
    const uid = await device.sh("id -u fleet-agent");
    // What install.sh has done.
    assertEquals(await device.sh("loginctl show-user fleet-agent --property Linger --value"), "yes");
    assertEquals(await device.sh("grep -c ^fleet-agent: /etc/subuid /etc/subgid"), "/etc/subuid:1\n/etc/subgid:1");
    assertEquals(await device.sh("systemctl --user -M fleet-agent@ is-active podman.socket"), "active");
    await importAppImage(device);
    await askPodman(device, "POST /libpod/containers/create", {
      name: CONTAINER,
      image: APP_IMAGE,
      command: ["/bin/sleep", "100000"],
    });
    await askPodman(device, `POST /libpod/containers/${CONTAINER}/start`);
    const pid = await containerPid(lab);
    await askFromSandbox(lab);
    await assertEnd(lab, await lab.release({ version: "2.0.0" }), { version: "2.0.0", phase: "complete" });
    await assertAnswered(lab, "2.0.0");
    assertEquals(await containerPid(lab), pid, "the container runs on through the upgrade");
    await askPodman(device, `POST /libpod/containers/${CONTAINER}/kill`);
    // A manager that comes after the agent: the sandbox sees what is mounted later.
    await device.sh(`systemctl stop user@${uid} user-runtime-dir@${uid}`);
    await device.sh(`systemctl restart --no-block ${AGENT}`);
    await waitUntil("the agent to ask", async () => await device.property(AGENT, "SubState") === "start-pre");
    await device.sh(`systemctl start user@${uid}`);
    await assertAnswered(lab, "2.0.0");
    await device.shutDown("reboot");
    await device.boot();
    await assertAnswered(lab, "2.0.0");
  },
};

/** Podman. */
export const PODMAN: readonly Scenario[] = [podmanInSandbox];
