/** The port's conformance suite on a real Podman. */
import { PodmanEngine } from "../../agent/podman/podman_engine.ts";
import { ENGINE_SUITE, type EngineWorld } from "../conformance/container_engine.ts";
import { podmanMissing, PodmanService } from "./podman_service.ts";

const missing = await podmanMissing();
const skipped = missing === undefined ? "" : ` (skipped: ${missing})`;

async function realWorld(): Promise<EngineWorld> {
  const service = await PodmanService.start();
  const { registry } = service;
  return {
    engine: new PodmanEngine(service.socket),
    image: service.image,
    remoteImage: registry.add("app", service.layer),
    unknownImage: `${registry.host}/none:1`,
    damagedImage: registry.add("damaged", service.layer.slice(0, 1_024), true),
    exit: async ({ id }, code) => {
      const { code: failed, stderr } = await service.podman("exec", id, "/bin/sh", "-c", `echo ${code} > /exit`);
      if (failed !== 0) throw new Error(stderr);
    },
    close: () => service.close(),
  };
}

for (const { name, run } of ENGINE_SUITE) {
  Deno.test({
    name: `Podman: ${name}${skipped}`,
    ignore: missing !== undefined,
    fn: async () => {
      const world = await realWorld();
      try {
        await run(world);
      } finally {
        await world.close();
      }
    },
  });
}
