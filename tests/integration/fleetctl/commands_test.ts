import { assert, assertEquals } from "@std/assert";
import { BUCKETS } from "../../../contracts/buckets.ts";
import { EmbeddedStore } from "../../../operator/stores/embedded.ts";
import { RESOURCE_RULES } from "../../../operator/stores/resource_rules.ts";
import { ago, FLEET_NOW_MS, sampleDeviceStatus, sampleHeartbeat } from "../../fakes/memory_fleet.ts";
import { digest } from "../../fakes/operator_samples.ts";
import { assertGolden } from "../../golden/golden.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { fleetctlTest, type FleetctlWorld } from "./fleetctl_world.ts";

const RELEASE = `# the release of the week
apiVersion: fleet.nationtech.io/v1alpha1
kind: AgentRelease
metadata:
  name: agent-1-1
spec:
  version: 1.1.0
  artifacts:
    - arch: x86_64
      form: script
      url: https://artifacts.example/fleet-agent-v1.1.0
      sha256: "${digest("a")}"
      maxBytes: 1000000
  allowedGroups: [edge]
  targetSelector: {}
`;

function deviceFile(name: string, groups = "[edge]"): string {
  return `---
apiVersion: fleet.nationtech.io/v1alpha1
kind: Device
metadata: {name: ${name}, labels: {site: lab}}
spec: {groups: ${groups}}
`;
}

/** Devices that are two hours old, one in each common state. */
async function fill(world: FleetctlWorld): Promise<void> {
  const shiftMs = Date.now() - FLEET_NOW_MS;
  const shifted = (spanMs: number) => new Date(Date.parse(ago(spanMs)) + shiftMs).toISOString();
  const store = new EmbeddedStore(await world.bus.bucket(BUCKETS.resources), { nowMs: () => Date.now() - 7_205_000 });
  const target = { desiredRelease: "agent-1-1", livenessSince: shifted(3_600_000) };
  const states = [
    { ...target, desiredReason: "UpToDate", agentVersion: "1.1.0" },
    {
      ...target,
      desiredReason: "RolledBack",
      upgrade: {
        attemptId: "00000000-0000-4000-8000-0000000000a1",
        releaseName: "agent-1-1",
        targetVersion: "1.1.0",
        phase: "failed" as const,
        reason: "NeverReady",
        failureClass: "version" as const,
        error: "the candidate did not become ready within its bound",
        startedAt: shifted(600_000),
        updatedAt: shifted(301_000),
      },
    },
    { ...target, desiredReason: "NoArtifact", arch: "aarch64" as const },
  ];
  for (const [index, state] of states.entries()) {
    const name = `device-${index + 1}`;
    const created = await store.create("Device", {
      name,
      labels: { site: index === 0 ? "lab" : "hall" },
      spec: { groups: ["edge"] },
    });
    assert(created.ok);
    await store.replaceStatus("Device", name, sampleDeviceStatus(state), created.resource.metadata.resourceVersion);
    await world.report(BUCKETS.deviceHeartbeat, name, sampleHeartbeat(name));
  }
  await store.create("Device", { name: "device-4", labels: {}, spec: { groups: [] } });
}

/** Ages below ten seconds, which differ from run to run. */
function steady(text: string): string {
  return text.replaceAll(/\b[0-9]s\b/g, "0s");
}

fleetctlTest("applies a whole file and shows it in tables", async (world) => {
  await fill(world);
  const file = await world.file("fleet.yaml", RELEASE + deviceFile("device-4"));
  const preview = await world.run(["apply", "-f", file, "--dry-run"]);
  assertEquals([preview.code, preview.err], [0, ""]);
  await assertGolden("fleetctl/apply_dry_run.txt", preview.out);
  const applied = await world.run(["apply", "-f", file]);
  assertEquals([applied.code, applied.err, applied.out], [
    0,
    "",
    "agentrelease/agent-1-1 created\ndevice/device-4 configured\n",
  ]);
  const again = await world.run(["apply", "-f", "-"], { stdin: RELEASE + deviceFile("device-4") });
  assertEquals(again.out, "agentrelease/agent-1-1 unchanged\ndevice/device-4 unchanged\n");
  await assertGolden("fleetctl/get_devices.txt", steady((await world.run(["get", "devices"])).out));
  await assertGolden("fleetctl/get_releases.txt", steady((await world.run(["get", "releases"])).out));
  const behind = await world.run(["release", "devices", "agent-1-1", "--phase", "rolled-back"]);
  await assertGolden("fleetctl/release_devices.txt", steady(behind.out));
});

const DEPLOYMENT = `apiVersion: fleet.nationtech.io/v1alpha1
kind: FleetDeployment
metadata: {name: web}
spec:
  allowedGroups: [edge]
  targetSelector: {matchLabels: {site: hall}}
  podmanV0:
    containers:
      - {name: app, image: "registry.example/shop/app:1.4", ports: [{containerPort: 8080, hostPort: 80}]}
`;

fleetctlTest("applies a deployment, and says where containers would change", async (world) => {
  await fill(world);
  const preview = await world.run(["apply", "-f", "-", "--dry-run"], { stdin: DEPLOYMENT });
  assertEquals([preview.code, preview.err], [0, ""]);
  await assertGolden("fleetctl/apply_deployment_dry_run.txt", preview.out);
  const applied = await world.run(["apply", "-f", "-"], { stdin: DEPLOYMENT });
  assertEquals([applied.code, applied.out], [0, "fleetdeployment/web created\n"]);
  const next = DEPLOYMENT.replace("app:1.4", "app:1.5").replace("site: hall", "site: lab");
  const changed = await world.run(["apply", "-f", "-", "--dry-run"], { stdin: next + deviceFile("device-2") });
  assertEquals([changed.code, changed.out.split("\n")], [0, [
    "fleetdeployment/web configured (dry run)",
    '  ~ spec.targetSelector.matchLabels.site: "hall" -> "lab"',
    '  ~ spec.podmanV0.containers[app].image: "registry.example/shop/app:1.4" -> "registry.example/shop/app:1.5"',
    "  targets 2 devices: 1 would get it, 1 would change containers",
    "  lets 1 device go, which would remove its containers",
    "device/device-2 configured (dry run)",
    '  ~ metadata.labels.site: "hall" -> "lab"',
    "  release: none (NoRelease)",
    "  deployments: ~web",
    "nothing was changed; by the groups of Device.spec.groups, applying this would start no upgrade, and change containers on 3 devices",
    "",
  ]]);
  const wrong = await world.run(["apply", "-f", "-"], { stdin: DEPLOYMENT.replace("image:", "imgae:") });
  assertEquals([wrong.code, wrong.err.split("\n")[0]], [
    7,
    "-:9: document 1 (FleetDeployment/web): spec.podmanV0.containers[0].imgae: is not a known field; did you mean image?",
  ]);
  const deleted = await world.run(["delete", "deploy/web"]);
  assertEquals([deleted.code, deleted.out], [0, "fleetdeployment/web deleted\n"]);
});

fleetctlTest("prints JSON that decodes, and YAML and JSON that can be applied", async (world) => {
  await fill(world);
  await world.run(["apply", "-f", "-"], { stdin: `${RELEASE}---\n${DEPLOYMENT}` });
  const kinds = [["Device", "devices"], ["AgentRelease", "releases"], ["FleetDeployment", "deployments"]] as const;
  for (const [kind, plural] of kinds) {
    const { out } = await world.run(["get", plural, "-o", "json"]);
    const list = JSON.parse(out);
    assertEquals(list.kind, `${kind}List`);
    for (const { spec, status } of list.items) {
      assertEquals(RESOURCE_RULES[kind].spec(spec, "spec"), spec);
      if (status !== undefined) assertEquals(RESOURCE_RULES[kind].status(status, "status"), status);
    }
    for (const format of ["json", "yaml"]) {
      const text = (await world.run(["get", plural, "-o", format])).out;
      const applied = await world.run(["apply", "-f", "-"], { stdin: text });
      assertEquals([applied.code, applied.err], [0, ""]);
      assert(applied.out.trim().split("\n").every((line) => line.endsWith(" unchanged")), applied.out);
    }
  }
  const described = JSON.parse((await world.run(["describe", "device", "device-2", "-o", "json"])).out);
  assertEquals([described.advice[0].code, described.heartbeat.state, described.upgradeStatus.state], [
    "RolledBack",
    "present",
    "absent",
  ]);
  assert(described.heartbeat.ageMs < 60_000);
});

fleetctlTest("describes, deletes, pauses, resumes and retries", async (world) => {
  await fill(world);
  await world.run(["apply", "-f", "-"], { stdin: RELEASE });
  const described = await world.run(["describe", "device", "device-2"]);
  assertEquals([described.code, described.err], [0, ""]);
  assert(described.out.includes("What to do next:\n  RolledBack: 1.1.0 was started"), described.out);
  const release = await world.run(["describe", "release", "agent-1-1"]);
  assert(release.out.includes("State:         New"), release.out);
  const steps: readonly (readonly [string[], string])[] = [
    [["release", "pause", "agent-1-1"], "agentrelease/agent-1-1 paused\n"],
    [["release", "pause", "agent-1-1"], "agentrelease/agent-1-1 unchanged (it is paused already)\n"],
    [["release", "retry", "agent-1-1"], "agentrelease/agent-1-1 retried (revision 1 -> 2)\n"],
    [["release", "resume", "agent-1-1"], "agentrelease/agent-1-1 resumed\n"],
    // What the commands have set stays when the file is applied again.
    [["apply", "-f", "-"], "agentrelease/agent-1-1 unchanged\n"],
    [["delete", "device", "device-1"], "device/device-1 deleted\n"],
    [["delete", "agentrelease/agent-1-1"], "agentrelease/agent-1-1 deleted\n"],
  ];
  for (const [args, expected] of steps) {
    const { code, out, err } = await world.run(args, { stdin: RELEASE });
    assertEquals([code, out], [0, expected], err);
  }
  assertEquals((await world.run(["describe", "device", "device-1"])).code, 3);
  assertEquals((await world.run(["delete", "device", "device-1"])).code, 3);
  assertEquals((await world.run(["delete", "device", "device-1", "--ignore-not-found"])).code, 0);
});

fleetctlTest("refuses bad files with their place, and applies nothing of them", async (world) => {
  const bad: readonly (readonly [string, string, string])[] = [
    ["sha256:", "sha265:", "spec.artifacts[0].sha265: is not a known field; did you mean sha256?"],
    ["maxBytes: 1000000", "maxBytes: many", "spec.artifacts[0].maxBytes: must be an integer, not a string"],
    [
      "  allowedGroups",
      `    - {arch: x86_64, form: script, url: "https://b/", sha256: "${digest("b")}", maxBytes: 1}\n  allowedGroups`,
      "spec.artifacts[1]: is a second artifact for x86_64/script",
    ],
    ["version: 1.1.0", `version: 1.1.0-${"a".repeat(59)}`, "spec.version: has 65 characters, at most 64"],
    ["https:", "http:", "spec.artifacts[0].url: has the scheme http:, must be https or oci"],
    ["kind: AgentRelease", "kind: AgentReleas", "did you mean AgentRelease?"],
    ["spec:", "spec: {", "cannot be read as YAML"],
  ];
  for (const [from, to, message] of bad) {
    const { code, out, err } = await world.run(["apply", "-f", "-"], {
      stdin: deviceFile("device-1") + "---\n" + RELEASE.replace(from, to),
    });
    assertEquals([code, out], [7, ""], err);
    assert(err.startsWith("-:") && err.includes(`document 2`) && err.includes(message), err);
    assert(err.endsWith("fleetctl: Cannot apply: 1 problem, nothing was applied\n"), err);
  }
  const big = await world.file("big.yaml", `#${"x".repeat(4 * 1_024 * 1_024)}\n`);
  const { code, err } = await world.run(["apply", "-f", big]);
  assertEquals([code, err], [
    7,
    `${big}: file: has more than 4194304 bytes\nfleetctl: Cannot apply: 1 problem, nothing was applied\n`,
  ]);
  assertEquals((await world.run(["apply", "-f", "/nowhere/x.yaml"])).code, 2);
  assertEquals(JSON.parse((await world.run(["get", "devices", "-o", "json"])).out).items, []);
});

fleetctlTest("lets two applies at once end as one of them", async (world) => {
  const names = Array.from({ length: 20 }, (_, index) => `d${index}`);
  const file = (group: string) => names.map((name) => deviceFile(name, `[${group}]`)).join("");
  const runs = await Promise.all([
    world.run(["apply", "-f", "-"], { stdin: file("left") }),
    world.run(["apply", "-f", "-"], { stdin: file("right") }),
  ]);
  for (const { code, err, out } of runs) {
    assertEquals([code, err], [0, ""]);
    assertEquals(out.trim().split("\n").length, names.length);
  }
  for (const { spec } of await (await world.store()).list("Device")) {
    assert(["left", "right"].includes(spec.groups.join()), spec.groups.join());
  }
});

fleetctlTest("does not apply what was read before somebody else's change", async (world) => {
  await fill(world);
  const read = (await world.run(["get", "device", "device-4", "-o", "yaml"])).out;
  await world.run(["apply", "-f", "-"], { stdin: deviceFile("device-4", "[other]") });
  const late = await world.run(["apply", "-f", "-"], { stdin: read.replace("groups: []", "groups: [edge]") });
  assertEquals([late.code, late.out], [4, ""]);
  assert(
    late.err.includes("Cannot apply device/device-4: the document was read at generation 1, and the resource is at 2"),
    late.err,
  );
});

fleetctlTest("watches through a restart of the server, until it is interrupted", async (world) => {
  await fill(world);
  const child = world.spawn(["watch", "devices", "-o", "json"]);
  await child.stdin.close();
  const lines: { event: string; resource?: { metadata: { name: string } }; name?: string }[] = [];
  const reading = (async () => {
    let rest = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts.map((line) => JSON.parse(line)));
    }
  })();
  const errors = new Response(child.stderr).text();
  await waitUntil("the first resources", () => lines.some(({ event }) => event === "current"));
  assertEquals(lines.filter(({ event }) => event === "put").length, 4);
  await world.server.kill9();
  await world.server.restart();
  await waitUntil("a write after the restart", async () => {
    try {
      return (await (await world.store()).delete("Device", "device-4")).ok;
    } catch {
      return false;
    }
  });
  await waitUntil("the deletion", () => lines.some(({ event, name }) => event === "delete" && name === "device-4"));
  assertEquals(lines.filter(({ event }) => event === "put").length, 4);
  child.kill("SIGINT");
  assertEquals((await child.status).code, 0);
  await reading;
  assert((await errors).includes("connected again"), await errors);
});

fleetctlTest("ends quietly when nobody reads its output", async (world) => {
  await fill(world);
  const store = await world.store();
  for (let index = 0; index < 300; index++) {
    await store.create("Device", { name: `many-${index}`, labels: {}, spec: { groups: ["a-group-with-a-long-name"] } });
  }
  const child = world.spawn(["get", "devices", "-o", "json"]);
  await child.stdin.close();
  const reader = child.stdout.getReader();
  await reader.read();
  await reader.cancel();
  const [{ code }, err] = await Promise.all([child.status, new Response(child.stderr).text()]);
  assertEquals([code, err], [141, ""]);
});
