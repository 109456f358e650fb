import { assert, assertEquals } from "@std/assert";
import { DEPLOYMENT_CONTAINERS_MAX, DEVICE_CONTAINERS_MAX } from "../../contracts/limits.ts";
import { DEVICE_ID, uuidOf } from "../../tests/fakes/agent_samples.ts";
import { containerOf, entryOf, heldOf, madeFrom, ownerOf } from "../../tests/fakes/workload_samples.ts";
import type { EngineContainer } from "../podman/port.ts";
import { labelsOf } from "./container_labels.ts";
import type { HeldState } from "./desired_state.ts";
import { planContainers, type Step } from "./plan_containers.ts";

const APP = containerOf("app");
const WEB = entryOf(1, [APP]);
const RUNNING = madeFrom(WEB, APP);

function shown(step: Step): string {
  switch (step.kind) {
    case "pull":
      return `pull ${step.policy}`;
    case "create":
      return `create ${step.name}`;
    case "rename":
      return `rename ${step.id ?? "new"} ${step.name}`;
    default:
      return `${step.kind} ${step.id ?? "new"}`;
  }
}

function steps(held: HeldState, ...containers: EngineContainer[]): string[] {
  return planContainers(DEVICE_ID, held, containers).places.flatMap(({ steps }) => steps.map(shown));
}

Deno.test("planContainers(): nothing there is pulled, made and started", () => {
  assertEquals(steps(heldOf([WEB])), ["pull missing", "create web-1.app", "start new"]);
  const always = entryOf(1, [containerOf("app", { pullPolicy: "always" })]);
  assertEquals(steps(heldOf([always]))[0], "pull always");
});

Deno.test("planContainers(): what runs as desired is not touched, whatever the generation", () => {
  assertEquals(steps(heldOf([WEB]), RUNNING), []);
  assertEquals(steps(heldOf([entryOf(1, [APP], 2)]), RUNNING), []);
  assertEquals(steps(heldOf([entryOf(1, [{ ...APP, pullPolicy: "always" }], 2)]), RUNNING), []);
  // Defaults that are written out are the same container.
  const defaults = { env: {}, ports: [], volumes: [], stopTimeoutSeconds: 10 };
  const spelt = containerOf("app", { ...defaults, restartPolicy: "always" });
  assertEquals(steps(heldOf([entryOf(1, [spelt], 2)]), RUNNING), []);
});

Deno.test("planContainers(): a change makes the successor before the old one goes", () => {
  const changed = entryOf(1, [containerOf("app", { image: "localhost/app:2" })], 2);
  assertEquals(steps(heldOf([changed]), RUNNING), [
    "pull missing",
    "create web-1.app_next",
    `stop ${RUNNING.id}`,
    `remove ${RUNNING.id}`,
    "rename new web-1.app",
    "start new",
  ]);
});

Deno.test("planContainers(): a replacement that was cut short goes on from where it stands", () => {
  const image = containerOf("app", { image: "localhost/app:2" });
  const changed = entryOf(1, [image], 2);
  const held = heldOf([changed]);
  const next = madeFrom(changed, image, { id: "next", name: "web-1.app_next", phase: "created", startedAtS: 0 });
  assertEquals(steps(held, RUNNING, next), [
    `stop ${RUNNING.id}`,
    `remove ${RUNNING.id}`,
    "rename next web-1.app",
    "start next",
  ]);
  const stopped = { ...RUNNING, phase: "exited" } as const;
  assertEquals(steps(held, stopped, next), [`remove ${RUNNING.id}`, "rename next web-1.app", "start next"]);
  assertEquals(steps(held, next), ["rename next web-1.app", "start next"]);
  assertEquals(steps(held, { ...next, name: "web-1.app" }), ["start next"]);
  // The wish changed again meanwhile: the half-made successor is in the way of the next one.
  const newest = heldOf([entryOf(1, [containerOf("app", { image: "localhost/app:3" })], 3)]);
  assertEquals(steps(newest, RUNNING, next), [
    "pull missing",
    "remove next",
    "create web-1.app_next",
    `stop ${RUNNING.id}`,
    `remove ${RUNNING.id}`,
    "rename new web-1.app",
    "start new",
  ]);
});

Deno.test("planContainers(): what a deployment no longer names, and what no deployment names, goes first", () => {
  const two = entryOf(1, [APP, containerOf("side")]);
  const side = madeFrom(two, containerOf("side"));
  const gone = madeFrom(entryOf(2, [APP]), APP, { id: "gone" });
  assertEquals(steps(heldOf([WEB, entryOf(3, [APP])]), RUNNING, side, gone), [
    `stop ${side.id}`,
    `remove ${side.id}`,
    "stop gone",
    "remove gone",
    "pull missing",
    "create web-3.app",
    "start new",
  ]);
});

Deno.test("planContainers(): a snapshot that proves nothing removes no deployment", () => {
  const gone = madeFrom(entryOf(2, [APP]), APP);
  assertEquals(steps(heldOf([WEB], { whole: false }), RUNNING, gone), []);
  assertEquals(steps(heldOf([], { whole: false }), RUNNING, gone), []);
  // What a deployment says of itself is known all the same.
  const two = entryOf(1, [APP, containerOf("side")]);
  const side = madeFrom(two, containerOf("side"));
  assertEquals(steps(heldOf([WEB], { whole: false }), RUNNING, side), [`stop ${side.id}`, `remove ${side.id}`]);
});

Deno.test("planContainers(): foreign containers are in no step", () => {
  const { labels } = RUNNING;
  const foreign: EngineContainer[] = [
    { ...RUNNING, id: "f1", labels: {} },
    // Another device's, on the same Podman.
    { ...RUNNING, id: "f2", labels: { ...labels, "fleet.nationtech.io/device-id": "device-2" } },
    // Started by hand from an image that somebody made of the container: the labels came with it, the name did not.
    { ...RUNNING, id: "f3", name: "debug" },
    { ...RUNNING, id: "f4", name: "web-1.app_old" },
    { ...RUNNING, id: "f5", labels: { ...labels, "fleet.nationtech.io/deployment-id": "x" } },
    { ...RUNNING, id: "f6", labels: { ...labels, "fleet.nationtech.io/container": "../app" } },
  ];
  assertEquals(steps(heldOf([]), ...foreign), []);
  assertEquals(steps(heldOf([WEB]), ...foreign), ["pull missing", "create web-1.app", "start new"]);
});

Deno.test("planContainers(): a deployment that cannot be carried out is left alone, and so are its containers", () => {
  const unknown = { ...WEB, workload: { kind: "unusable", reason: "UnknownWorkload", error: "x" } } as const;
  for (
    const held of [
      heldOf([unknown]),
      heldOf([], { unreadable: new Map([[uuidOf(1), "broken"]]) }),
      heldOf([WEB], {
        unreadable: new Map([[uuidOf(1), "broken"]]),
      }),
    ]
  ) {
    const other = madeFrom(WEB, containerOf("side"));
    const plan = planContainers(DEVICE_ID, held, [RUNNING, other]);
    assertEquals(plan.places, []);
    assertEquals([...plan.leftAlone.keys()], [uuidOf(1)]);
  }
});

Deno.test("planContainers(): starts what should run and does not, by its policy and its end", () => {
  const ended = (exitCode: number, exitedAtS: number) =>
    ({ phase: "exited", exitCode, exitedAtS, startedAtS: 100 }) as const;
  const starts = (
    restartPolicy: "no" | "on-failure" | "always" | "unless-stopped" | undefined,
    change: Partial<EngineContainer>,
  ) => {
    const app = containerOf("app", restartPolicy === undefined ? {} : { restartPolicy });
    const entry = entryOf(1, [app]);
    return steps(heldOf([entry]), madeFrom(entry, app, change)).length > 0;
  };
  for (const policy of [undefined, "always", "unless-stopped"] as const) {
    for (const change of [ended(0, 200), ended(1, 200), ended(0, 0)]) assert(starts(policy, change), policy);
  }
  assertEquals(starts("on-failure", ended(0, 200)), false);
  assertEquals(starts("on-failure", ended(1, 200)), true);
  // A power cut wrote no end down: it did not end well.
  assertEquals(starts("on-failure", ended(0, 0)), true);
  for (const change of [ended(0, 200), ended(1, 200), ended(0, 0)]) assertEquals(starts("no", change), false);
  // One that was made and never started is started once, whatever its policy.
  assertEquals(starts("no", { phase: "created", startedAtS: 0 }), true);
  for (const state of ["paused", "stopping", "removing"]) {
    assertEquals(starts("always", { phase: "other", state }), false);
  }
});

Deno.test("planContainers(): what Podman is busy with, or a person has paused, is waited for", () => {
  const changed = heldOf([entryOf(1, [containerOf("app", { image: "localhost/app:2" })], 2)]);
  assertEquals(steps(changed, { ...RUNNING, phase: "other", state: "paused" }), []);
  assertEquals(steps(heldOf([]), { ...RUNNING, phase: "other", state: "removing" }), []);
});

Deno.test("planContainers(): digests of other versions", () => {
  const owner = ownerOf(WEB, APP);
  const with_ = (specs: Record<string, string>, generation = 1) =>
    madeFrom(WEB, APP, { labels: labelsOf({ ...owner, specs, generation }) });
  // A newer agent wrote another version beside ours: after a rollback ours decides.
  assertEquals(steps(heldOf([WEB]), with_({ ...owner.specs, v2: "x" })), []);
  assertEquals(steps(heldOf([WEB]), with_({ v1: "0".repeat(64), v2: "x" })).length, 6);
  // One that wrote none of ours: the generation is all that is known.
  assertEquals(steps(heldOf([WEB]), with_({ v9: "x" })), []);
  assertEquals(steps(heldOf([entryOf(1, [APP], 2)]), with_({ v9: "x" })).length, 6);
});

for (const extra of [-1, 0, 1]) {
  Deno.test(`planContainers(): ${DEVICE_CONTAINERS_MAX + extra} containers on one device`, () => {
    const whole = DEVICE_CONTAINERS_MAX / DEPLOYMENT_CONTAINERS_MAX;
    const full = Array.from({ length: DEPLOYMENT_CONTAINERS_MAX }, (_, index) => containerOf(`c${index}`));
    const entries = Array.from(
      { length: whole },
      (_, index) => entryOf(index, index === 0 ? full.slice(0, DEPLOYMENT_CONTAINERS_MAX + Math.min(extra, 0)) : full),
    );
    if (extra > 0) entries.push(entryOf(15, [APP]));
    const { leftAlone, places } = planContainers(DEVICE_ID, heldOf(entries), []);
    assertEquals(places.length, DEVICE_CONTAINERS_MAX + Math.min(extra, 0));
    assertEquals(
      [...leftAlone].map(([id, { reason }]) => `${id} ${reason}`),
      extra > 0 ? [`${uuidOf(15)} TooManyContainers`] : [],
    );
  });
}
