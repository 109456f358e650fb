import { assertEquals } from "@std/assert";
import { podmanV0 } from "../../contracts/podman_workload.ts";
import { workload } from "../../tests/golden/deployment_documents.ts";
import { entryOf, ownerOf } from "../../tests/fakes/workload_samples.ts";
import { containerSpec } from "../core/container_spec.ts";
import { engineReference, specGenerator } from "./spec_generator.ts";

function generated(index: number): Record<string, unknown> {
  const { containers } = podmanV0(workload, "");
  const container = containers[index] ?? containers[0];
  if (container === undefined) throw new Error("no such container");
  const { labels: _, ...rest } = specGenerator(
    containerSpec(container, ownerOf(entryOf(1, containers), container), "n"),
  );
  return rest;
}

Deno.test("specGenerator(): every member, as Podman takes it", () => {
  assertEquals(generated(0), {
    name: "n",
    image: `registry.example:5000/shop/app@sha256:${"c".repeat(64)}`,
    env: { LOG_LEVEL: "info" },
    restart_policy: "always",
    stop_timeout: 20,
    entrypoint: ["/bin/app"],
    command: ["--listen", "0.0.0.0:8080"],
    user: "1000:1000",
    netns: { nsmode: "bridge" },
    portmappings: [{ container_port: 8080, host_port: 80, protocol: "tcp", host_ip: "127.0.0.1" }],
    mounts: [{ type: "bind", source: "/etc/shop", destination: "/etc/shop", options: ["rbind", "ro"] }],
    volumes: [{ Name: "shop-data", Dest: "/var/lib/shop", Options: ["rw"] }],
  });
});

Deno.test("specGenerator(): what is not said is left to image and engine", () => {
  assertEquals(generated(1), {
    name: "n",
    image: "localhost/metrics:1",
    env: {},
    restart_policy: "always",
    stop_timeout: 10,
  });
});

Deno.test("engineReference(): of a tag and a digest, the digest decides", () => {
  const digest = `@sha256:${"a".repeat(64)}`;
  assertEquals(engineReference(`r.io:5000/a/b:1.2${digest}`), `r.io:5000/a/b${digest}`);
  for (const same of [`r.io:5000/a/b${digest}`, "r.io:5000/a/b:1.2", "localhost/app:1"]) {
    assertEquals(engineReference(same), same);
  }
});
