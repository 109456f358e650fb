/**
 * What every container engine must do, whatever it is made of.
 *
 * @module
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ContainerEngine, ContainerSpec, EngineContainer } from "../../agent/podman/port.ts";
import { FleetError } from "../../contracts/errors.ts";
import { waitUntil } from "../nats/wait_until.ts";

/** An engine to test, with an image on it whose command is a shell. */
export interface EngineWorld {
  readonly engine: ContainerEngine;
  /** Reference of an image on the device, with `/bin/sh` and `/bin/sleep`. */
  readonly image: string;
  /** Reference of an image that a registry has and the device has not. */
  readonly remoteImage: string;
  /** Reference of an image that no registry has. */
  readonly unknownImage: string;
  /** Reference of an image whose content the registry has lost. */
  readonly damagedImage: string;
  /** Ends a container from inside, with a code. */
  readonly exit: (container: EngineContainer, code: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

const LABEL = "example.com/test";

function spec(world: EngineWorld, name: string, changes: Partial<ContainerSpec> = {}): ContainerSpec {
  return {
    name,
    image: world.image,
    labels: { [LABEL]: name },
    // Ends at SIGTERM, and with the code that a file of the world asks for.
    command: ["/bin/sh", "-c", "trap 'exit 0' TERM; while [ ! -e /exit ]; do sleep 0.1; done; exit $(cat /exit)"],
    env: { ONE: "1" },
    ports: [],
    volumes: [],
    restartPolicy: "no",
    stopTimeoutS: 2,
    ...changes,
  };
}

async function only(world: EngineWorld, name: string): Promise<EngineContainer> {
  const found = await world.engine.list({ [LABEL]: name });
  assertEquals(found.length, 1, `containers with the label ${name}`);
  const [container] = found;
  assert(container !== undefined);
  return container;
}

async function assertCode(work: () => Promise<unknown>, code: string): Promise<void> {
  const error = await assertRejects(work, FleetError);
  assertEquals(error.code, code, error.message);
}

/** The suite: a name, and what must hold. */
export const ENGINE_SUITE: readonly { readonly name: string; run(world: EngineWorld): Promise<void> }[] = [
  {
    name: "says its version",
    run: async ({ engine }) => assert(/^\d+\.\d+/.test(await engine.version())),
  },
  {
    name: "a container is made, started, stopped and removed; each step may be repeated",
    async run(world) {
      const { engine } = world;
      const id = await engine.create(spec(world, "web.app"));
      const made = await only(world, "web.app");
      assertEquals([made.id, made.name, made.phase, made.startedAtS], [id, "web.app", "created", 0]);
      await engine.start(id);
      await engine.start(id);
      const running = await only(world, "web.app");
      assertEquals(running.phase, "running");
      assert(running.startedAtS > 0);
      await assertCode(() => engine.remove(id), "E_ENGINE_REFUSED");
      await engine.stop(id);
      await engine.stop(id);
      const stopped = await only(world, "web.app");
      assertEquals(stopped.phase, "exited");
      assert(stopped.exitedAtS >= stopped.startedAtS);
      await engine.remove(id);
      await engine.remove(id);
      await engine.stop(id);
      assertEquals(await engine.list({ [LABEL]: "web.app" }), []);
    },
  },
  {
    name: "lists by labels, all of which must be there",
    async run(world) {
      const { engine } = world;
      const a = await engine.create(spec(world, "a", { labels: { [LABEL]: "both", "example.com/x": "1" } }));
      const b = await engine.create(spec(world, "b", { labels: { [LABEL]: "both", "example.com/x": "2" } }));
      const ids = async (labels: Record<string, string | null>) =>
        (await engine.list(labels)).map(({ id }) => id).sort();
      assertEquals(await ids({ [LABEL]: "both" }), [a, b].sort());
      assertEquals(await ids({ [LABEL]: "both", "example.com/x": "2" }), [b]);
      assertEquals(await ids({ [LABEL]: null, "example.com/x": null }), [a, b].sort());
      assertEquals(await ids({ [LABEL]: "bot" }), []);
      const found = (await engine.list({ "example.com/x": "1" }))[0];
      assertEquals(found?.labels["example.com/x"], "1");
    },
  },
  {
    name: "a name is taken once, and can be given on",
    async run(world) {
      const { engine } = world;
      const old = await engine.create(spec(world, "web.app"));
      await engine.start(old);
      await assertCode(() => engine.create(spec(world, "web.app")), "E_ENGINE_NAME_TAKEN");
      const next = await engine.create(spec(world, "web.app_next"));
      await assertCode(() => engine.rename(next, "web.app"), "E_ENGINE_NAME_TAKEN");
      await engine.stop(old);
      await engine.remove(old);
      await engine.rename(next, "web.app");
      assertEquals((await engine.list({ [LABEL]: "web.app_next" })).map(({ id, name }) => [id, name]), [[
        next,
        "web.app",
      ]]);
    },
  },
  {
    name: "tells how a container came to its end",
    async run(world) {
      const { engine } = world;
      const id = await engine.create(spec(world, "job"));
      await engine.start(id);
      await world.exit(await only(world, "job"), 7);
      await waitUntil("its end", async () => (await only(world, "job")).phase === "exited", 20_000);
      const ended = await only(world, "job");
      assertEquals(ended.exitCode, 7);
      assert(ended.exitedAtS >= ended.startedAtS);
    },
  },
  {
    name: "what is not there has a code of its own",
    async run(world) {
      const { engine } = world;
      const id = "0".repeat(64);
      await assertCode(() => engine.start(id), "E_ENGINE_NO_CONTAINER");
      await assertCode(() => engine.rename(id, "x"), "E_ENGINE_NO_CONTAINER");
      await assertCode(() => engine.create(spec(world, "x", { image: "localhost/none:1" })), "E_ENGINE_NO_IMAGE");
      assertEquals(await engine.list({ [LABEL]: "x" }), []);
    },
  },
  {
    name: "an image is looked for, and fetched",
    async run(world) {
      const { engine, image, remoteImage } = world;
      assertEquals(await engine.hasImage(image), true);
      assertEquals(await engine.hasImage(remoteImage), false);
      await engine.pull(remoteImage, AbortSignal.timeout(60_000));
      assertEquals(await engine.hasImage(remoteImage), true);
      await engine.pull(remoteImage, AbortSignal.timeout(60_000));
      await engine.create(spec(world, "pulled", { image: remoteImage }));
    },
  },
  {
    name: "a pull that fails says so, also when the answer began well",
    async run({ damagedImage, engine, unknownImage }) {
      for (const image of [unknownImage, damagedImage]) {
        await assertCode(() => engine.pull(image, AbortSignal.timeout(120_000)), "E_ENGINE_PULL");
        assertEquals(await engine.hasImage(image), false);
      }
    },
  },
  {
    name: "a pull that is given up rejects with the reason",
    async run({ engine, remoteImage }) {
      const reason = new Error("drain");
      const error = await assertRejects(() => engine.pull(remoteImage, AbortSignal.abort(reason)), Error);
      assertEquals(error, reason);
    },
  },
];
