/**
 * The agent's engine on each system's own Podman, rootless, by the conformance suite of the port.
 *
 * @module
 */
import { assertMatch } from "@std/assert";
import { PodmanEngine } from "../../../agent/podman/podman_engine.ts";
import type { EngineContainer } from "../../../agent/podman/port.ts";
import { ENGINE_SUITE, type EngineWorld } from "../../conformance/container_engine.ts";
import { ImageRegistry } from "../../podman/image_registry.ts";
import type { LabFleet } from "../lab_fleet.ts";
import { APP_IMAGE, askPodman, importAppImage, podmanSocket } from "../lab_podman.ts";
import type { Scenario } from "../scenario.ts";

/** Runs a shell command in a container. */
async function execute({ device }: LabFleet, { id }: EngineContainer, script: string): Promise<void> {
  const command = { Cmd: ["/bin/sh", "-c", script] };
  const made = JSON.parse(await askPodman(device, `POST /libpod/containers/${id}/exec`, command)) as { Id: string };
  await askPodman(device, `POST /libpod/exec/${made.Id}/start`, { Detach: true });
}

async function removeAll({ device }: LabFleet): Promise<void> {
  const found = JSON.parse(await askPodman(device, "GET /libpod/containers/json?all=true")) as { Id: string }[];
  for (const { Id } of found) await askPodman(device, `DELETE /libpod/containers/${Id}?force=true&timeout=0`);
}

const podmanEngine: Scenario = {
  name: "podman-engine",
  title: "the agent's engine passes its conformance suite on the system's own rootless Podman",
  async run(lab, note) {
    const { device } = lab;
    await importAppImage(device);
    const registry = new ImageRegistry();
    try {
      await device.sh("mkdir -p /etc/containers/registries.conf.d");
      const insecure = `[[registry]]\nlocation = ${JSON.stringify(registry.host)}\ninsecure = true\n`;
      await device.write("/etc/containers/registries.conf.d/lab.conf", insecure);
      const layer = await Deno.readFile(device.hostPath("/root/app.tar"));
      const engine = new PodmanEngine(device.hostPath(await podmanSocket(device)));
      const version = await engine.version();
      assertMatch(version, lab.device.system === "debian-12" ? /^4\.3\./ : /^5\.4\./);
      for (const [index, { name, run }] of ENGINE_SUITE.entries()) {
        const world: EngineWorld = {
          engine,
          image: APP_IMAGE,
          remoteImage: registry.add(`app${index}`, layer),
          unknownImage: `${registry.host}/none:1`,
          damagedImage: registry.add(`damaged${index}`, layer.slice(0, 1_024), true),
          exit: (container, code) => execute(lab, container, `echo ${code} > /exit`),
          close: () => Promise.resolve(),
        };
        try {
          await run(world);
        } catch (error) {
          throw new Error(`Podman ${version}: ${name}`, { cause: error });
        }
        await removeAll(lab);
      }
      note("podman_suite_tests", ENGINE_SUITE.length);
    } finally {
      await registry.close();
    }
  },
};

/** The agent's engine. */
export const PODMAN_ENGINE: readonly Scenario[] = [podmanEngine];
