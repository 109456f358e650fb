import { FakeEngine } from "../fakes/fake_engine.ts";
import { ENGINE_SUITE, type EngineWorld } from "./container_engine.ts";

function fakeWorld(): EngineWorld {
  const engine = new FakeEngine();
  engine.images.add("localhost/app:1");
  engine.registry.set("registry.example/app:2", "image");
  engine.registry.set("registry.example/damaged:1", { error: "blob unknown" });
  return {
    engine,
    image: "localhost/app:1",
    remoteImage: "registry.example/app:2",
    unknownImage: "registry.example/none:1",
    damagedImage: "registry.example/damaged:1",
    exit: ({ id }, code) => Promise.resolve(engine.exit(id, code)),
    close: () => Promise.resolve(),
  };
}

for (const { name, run } of ENGINE_SUITE) Deno.test(`fake engine: ${name}`, () => run(fakeWorld()));
