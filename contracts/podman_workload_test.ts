import { assertEquals, assertThrows } from "@std/assert";
import { assertRejected, assertStrictDecoder } from "../tests/assert/strict_decoder.ts";
import { workload } from "../tests/golden/deployment_documents.ts";
import { FleetError } from "./errors.ts";
import * as limits from "./limits.ts";
import { containerName, image, podmanV0, publishedPort, volume, workloadContainer } from "./podman_workload.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const [app] = workload.containers;
const minimal = { name: "app", image: "localhost/app:1" };
const problem = (value: unknown) => assertThrows(() => podmanV0(value, "podmanV0"), FleetError).message;
const workloadOf = (...containers: unknown[]) => ({ containers });

pure("podmanV0: strict in every field of every container", () => {
  assertStrictDecoder(podmanV0, workload);
  assertStrictDecoder(workloadContainer, app);
  assertEquals(podmanV0(workload, ""), podmanV0(structuredClone(workload), ""));
});

pure("podmanV0: an image has a registry, and a tag or a digest", () => {
  const digest = `@sha256:${"a".repeat(64)}`;
  for (
    const good of [
      "localhost/app:1",
      "registry.example/app:1.4",
      "registry.example:5000/a/b-c/d__e:v1_2.3-x",
      `registry.example/app${digest}`,
      `registry.example/app:1${digest}`,
      "10.0.0.1:5000/app:latest",
    ]
  ) assertEquals(image(good, ""), good);
  for (
    const bad of [
      "",
      "app:1",
      "library/app:1",
      "registry.example/app",
      "registry.example/App:1",
      "registry.example/app:",
      "registry.example/app:1@sha256:abc",
      "registry.example/../app:1",
      "registry.example//app:1",
      "https://registry.example/app:1",
      "registry.example/app:1 --privileged",
      "user@registry.example/app:1",
      `registry.example/app:${"1".repeat(129)}`,
    ]
  ) assertRejected(image, bad, "");
});

pure("podmanV0: names of containers, users, variables and volumes", () => {
  for (const bad of ["", "A", "a_b", "a.b", "-a", "a-", "a/b", "a".repeat(64)]) assertRejected(containerName, bad, "");
  containerName("a".repeat(63), "");
  for (const user of ["root", "1000", "1000:1000", "app:app"]) workloadContainer({ ...minimal, user }, "");
  for (const user of ["", ":", "a:", ":a", "a b", "a:b:c", "a;b"]) {
    assertRejected(workloadContainer, { ...minimal, user }, "user");
  }
  for (const name of ["", "1A", "A=B", "A B", "-A"]) {
    assertThrows(() => workloadContainer({ ...minimal, env: { [name]: "" } }, ""), FleetError);
  }
  assertThrows(() => workloadContainer({ ...minimal, env: { A: "a\0b" } }, ""), FleetError);
  assertThrows(() => workloadContainer({ ...minimal, command: ["a\0b"] }, ""), FleetError);
  for (const source of ["relative", "/a/../b", "/a:b", "/a,b", "/a\nb"]) {
    assertRejected(volume, { type: "bind", source, target: "/t" }, "source");
  }
  for (const target of ["t", "/..", "/a/./b", "/a:ro"]) {
    assertRejected(volume, { type: "named", source: "data", target }, "target");
  }
  for (const source of ["/data", "-data", "da ta", ""]) {
    assertRejected(volume, { type: "named", source, target: "/t" }, "source");
  }
});

pure("podmanV0: what excludes one another", () => {
  const port = { containerPort: 80, hostPort: 80 };
  for (const networkMode of ["host", "none"]) {
    assertEquals(
      problem(workloadOf({ ...minimal, networkMode, ports: [port] })),
      `podmanV0.containers[0].ports: cannot be published with networkMode ${networkMode}`,
    );
  }
  podmanV0(workloadOf({ ...minimal, networkMode: "host", ports: [] }), "");
  const twice = { ...minimal, name: "other", ports: [port] };
  assertEquals(
    problem(workloadOf({ ...minimal, ports: [port] }, twice)),
    "podmanV0.containers[1].ports[0].hostPort: is published twice",
  );
  // Another protocol or another address is another port.
  const others = [port, { ...port, protocol: "udp" }, { ...port, hostIp: "127.0.0.1" }];
  podmanV0(workloadOf({ ...minimal, ports: others }), "");
  assertEquals(
    problem(workloadOf(minimal, minimal)),
    "podmanV0.containers[1].name: is the name of another container too",
  );
  const mount = { type: "named", source: "data", target: "/data" };
  assertEquals(
    problem(workloadOf({ ...minimal, volumes: [mount, { ...mount, source: "more" }] })),
    "podmanV0.containers[0].volumes[1].target: is the target of another volume too",
  );
  assertRejected(
    workloadContainer,
    { ...minimal, labels: { "fleet.nationtech.io/device-id": "x" } },
    "labels.fleet.nationtech.io/device-id",
  );
});

/** A list of a length, or a text of a length. */
const many = <T>(count: number, item: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => item(index));
const text = (chars: number) => "a".repeat(chars);

const LIMITS: readonly [string, number, (count: number) => unknown][] = [
  [
    "containers",
    limits.DEPLOYMENT_CONTAINERS_MAX,
    (count) => workloadOf(...many(count, (index) => ({ ...minimal, name: `c${index}` }))),
  ],
  ["image", limits.IMAGE_MAX_CHARS, (count) => workloadOf({ ...minimal, image: `r.io/${text(count - 7)}:1` })],
  ["command", limits.COMMAND_WORDS_MAX, (count) => workloadOf({ ...minimal, command: many(count, () => "w") })],
  ["a word", limits.COMMAND_WORD_MAX_CHARS, (count) => workloadOf({ ...minimal, entrypoint: [text(count)] })],
  [
    "variables",
    limits.ENVIRONMENT_MAX,
    (count) => workloadOf({ ...minimal, env: Object.fromEntries(many(count, (index) => [`A${index}`, ""])) }),
  ],
  [
    "a variable's name",
    limits.ENVIRONMENT_NAME_MAX_CHARS,
    (count) => workloadOf({ ...minimal, env: { [text(count)]: "" } }),
  ],
  ["a variable", limits.ENVIRONMENT_VALUE_MAX_CHARS, (count) => workloadOf({ ...minimal, env: { A: text(count) } })],
  [
    "ports",
    limits.PORTS_MAX,
    (count) => workloadOf({ ...minimal, ports: many(count, (index) => ({ containerPort: 1, hostPort: index + 1 })) }),
  ],
  [
    "volumes",
    limits.VOLUMES_MAX,
    (count) =>
      workloadOf({
        ...minimal,
        volumes: many(count, (index) => ({ type: "named", source: "v", target: `/t${index}` })),
      }),
  ],
  [
    "a volume's source",
    limits.VOLUME_PATH_MAX_CHARS,
    (count) => workloadOf({ ...minimal, volumes: [{ type: "named", source: text(count), target: "/t" }] }),
  ],
  [
    "a volume's target",
    limits.VOLUME_PATH_MAX_CHARS,
    (count) => workloadOf({ ...minimal, volumes: [{ type: "named", source: "v", target: `/${text(count - 1)}` }] }),
  ],
  ["the user", limits.CONTAINER_USER_MAX_CHARS, (count) => workloadOf({ ...minimal, user: text(count) })],
  ["the time to stop", limits.CONTAINER_STOP_MAX_S, (count) => workloadOf({ ...minimal, stopTimeoutSeconds: count })],
  ["the whole", limits.WORKLOAD_MAX_BYTES, (count) => {
    const full = many(
      16,
      (index) => ({ ...minimal, name: `c${index}`, env: { A: text(limits.ENVIRONMENT_VALUE_MAX_CHARS) } }),
    );
    const last = full.pop();
    const room = count -
      new TextEncoder().encode(JSON.stringify(workloadOf(...full, { ...last, env: { A: "" } }))).byteLength;
    return workloadOf(...full, { ...last, env: { A: text(room) } });
  }],
];

for (const [name, limit, of] of LIMITS) {
  pure(`podmanV0: ${name}: ${limit}, one below and one above`, () => {
    podmanV0(of(limit - 1), "");
    podmanV0(of(limit), "");
    assertThrows(() => podmanV0(of(limit + 1), ""), FleetError);
  });
}

pure("podmanV0: ports are 1 to 65535", () => {
  for (const port of [1, 2, limits.PORT_MAX - 1, limits.PORT_MAX]) {
    publishedPort({ containerPort: port, hostPort: port }, "");
  }
  for (const port of [0, limits.PORT_MAX + 1]) {
    assertRejected(publishedPort, { containerPort: port, hostPort: 1 }, "containerPort");
  }
});
