import { assert, assertEquals, assertRejects } from "@std/assert";
import { headers } from "@nats-io/nats-core/internal";
import { BUCKET_SPECS, BUCKETS } from "../../contracts/buckets.ts";
import { devicePermissions } from "../../contracts/device_permissions.ts";
import { FleetError } from "../../contracts/errors.ts";
import { snapshotMap } from "../../lib/bus/snapshot_map.ts";
import { bytes, text, WatchTaker } from "../conformance/bus_world.ts";
import { startNatsServer } from "./nats_server.ts";
import { usersConfig } from "./server_config.ts";
import { openTestBus, type TestBus } from "./test_bus.ts";
import { allEntries, openTestFleet, type TestFleet } from "./test_fleet.ts";
import { waitUntil } from "./wait_until.ts";

const API = "$JS.fleet.API";

async function seed({ operator, a }: TestFleet): Promise<void> {
  const desired = await operator.bucket(BUCKETS.desiredState);
  const intents = await operator.bucket(BUCKETS.upgradeIntent);
  for (const device of ["a", "b"]) {
    await desired.put(`${device}._generation`, bytes(`generation of ${device}`));
    await desired.put(`${device}.x`, bytes(`entry of ${device}`));
    await intents.put(device, bytes(`intent of ${device}`));
    await (await operator.bucket(BUCKETS.deviceGroups)).put(device, bytes(`groups of ${device}`));
  }
  for (const name of [BUCKETS.deviceInfo, BUCKETS.deviceHeartbeat, BUCKETS.upgradeStatus]) {
    await (await a.bucket(name)).put("a", bytes("by a"));
  }
}

function fleetTest(name: string, body: (fleet: TestFleet) => Promise<void>): void {
  Deno.test(name, async () => {
    const fleet = await openTestFleet();
    try {
      await seed(fleet);
      await body(fleet);
    } finally {
      await fleet.close();
    }
  });
}

fleetTest("with the permissions of a device, all that an agent does works", async ({ operator, b }) => {
  for (const name of [BUCKETS.deviceInfo, BUCKETS.deviceHeartbeat, BUCKETS.upgradeStatus]) {
    const bucket = await b.bucket(name);
    assertEquals(await bucket.get("b"), null);
    const created = await bucket.create("b", bytes("1"));
    assert(created.ok);
    assertEquals(await bucket.update("b", bytes("2"), created.revision + 100), { ok: false });
    assert((await bucket.update("b", bytes("2"), created.revision)).ok);
    assertEquals(text(await bucket.get("b")), "2");
    assert((await bucket.delete("b")).ok);
    assert(await bucket.put("b", bytes("3")) > 0);
  }
  const deployments = await b.bucket(BUCKETS.deploymentStatus);
  const status = await deployments.create("b.y", bytes("1"));
  assert(status.ok);
  assert((await deployments.update("b.y", bytes("2"), status.revision)).ok);
  assertEquals([...(await snapshotMap(deployments, "b.*")).keys()], ["b.y"]);
  assert((await deployments.delete("b.y")).ok);
  const desired = await b.bucket(BUCKETS.desiredState);
  assertEquals([...(await snapshotMap(desired, "b.>")).keys()].sort(), ["b._generation", "b.x"]);
  assertEquals(text(await desired.get("b._generation")), "generation of b");
  const intents = new WatchTaker(await b.bucket(BUCKETS.upgradeIntent), "b");
  assertEquals(await intents.take(2), ["b=intent of b@2", "current"]);
  await (await operator.bucket(BUCKETS.upgradeIntent)).put("b", bytes("next"));
  assertEquals(await intents.next(), "b=next@3");
  await intents.end();
  const skewMs = await b.clockSkewMs();
  assert(skewMs !== null && Math.abs(skewMs) < 1_000);
  await b.flush(5_000);
});

fleetTest("a large snapshot reaches a device through the server's flow control", async ({ operator, b }) => {
  const desired = await operator.bucket(BUCKETS.desiredState);
  const value = new Uint8Array(64 * 1_024);
  await Promise.all(Array.from({ length: 500 }, (_, index) => desired.put(`b.k${index}`, value)));
  assertEquals((await snapshotMap(await b.bucket(BUCKETS.desiredState), "b.>")).size, 502);
});

fleetTest("a device may not bind what it may not read", async ({ b }) => {
  for (const name of [BUCKETS.resources, BUCKETS.deviceGroups]) {
    const error = await assertRejects(() => b.bucket(name), FleetError);
    assertEquals(error.code, "E_BUS_NO_BUCKET", name);
  }
});

/** Requests of device `b` that its permissions must stop, about `a`, the operator, the server, and what authorizes it. */
const FORBIDDEN_REQUESTS = [
  ...["a", "b"].flatMap((device) => [
    `$KV.device-groups.${device}`,
    `${API}.DIRECT.GET.KV_device-groups.$KV.device-groups.${device}`,
    `${API}.CONSUMER.CREATE.KV_device-groups.b_x.$KV.device-groups.${device}`,
  ]),
  `${API}.DIRECT.GET.KV_device-groups`,
  `${API}.CONSUMER.CREATE.KV_device-groups.b_x.$KV.device-groups.>`,
  `${API}.CONSUMER.CREATE.KV_device-groups.b_x`,
  ...[BUCKETS.deviceInfo, BUCKETS.deviceHeartbeat, BUCKETS.upgradeStatus, BUCKETS.upgradeIntent].flatMap((bucket) => [
    `$KV.${bucket}.a`,
    `${API}.DIRECT.GET.KV_${bucket}.$KV.${bucket}.a`,
    `${API}.DIRECT.GET.KV_${bucket}.$KV.${bucket}.*`,
    `${API}.DIRECT.GET.KV_${bucket}.$KV.${bucket}.>`,
    `${API}.DIRECT.GET.KV_${bucket}`,
    `${API}.CONSUMER.CREATE.KV_${bucket}.b_x.$KV.${bucket}.a`,
    `${API}.CONSUMER.CREATE.KV_${bucket}.b_x.$KV.${bucket}.>`,
    `${API}.CONSUMER.CREATE.KV_${bucket}.b_x`,
    `${API}.CONSUMER.CREATE.KV_${bucket}`,
  ]),
  ...["a.x", "a", "b", "b.x.y"].map((key) => `$KV.deployment-status.${key}`),
  ...["a.x", "*.x", "a.*", ">"].flatMap((filter) => [
    `${API}.DIRECT.GET.KV_deployment-status.$KV.deployment-status.${filter}`,
    `${API}.CONSUMER.CREATE.KV_deployment-status.b_x.$KV.deployment-status.${filter}`,
  ]),
  `${API}.CONSUMER.CREATE.KV_deployment-status.b_x`,
  "$KV.agent-upgrade-intent.b",
  "$KV.desired-state.a.x",
  "$KV.desired-state.b.x",
  `${API}.DIRECT.GET.KV_desired-state.$KV.desired-state.a.x`,
  `${API}.DIRECT.GET.KV_desired-state.$KV.desired-state.*.x`,
  `${API}.CONSUMER.CREATE.KV_desired-state.b_x.$KV.desired-state.a.>`,
  `${API}.CONSUMER.CREATE.KV_desired-state.b_x.$KV.desired-state.>`,
  `${API}.CONSUMER.CREATE.KV_desired-state.b_x.$KV.desired-state.*.x`,
  `${API}.CONSUMER.DURABLE.CREATE.KV_desired-state.b_x`,
  ...[API, "$JS.API"].flatMap((api) => [
    `${api}.INFO`,
    `${api}.STREAM.LIST`,
    `${api}.STREAM.NAMES`,
    ...["INFO", "PURGE", "DELETE", "UPDATE", "MSG.GET", "MSG.DELETE", "SNAPSHOT"].map((verb) =>
      `${api}.STREAM.${verb}.KV_agent-upgrade-intent`
    ),
    `${api}.STREAM.CREATE.KV_other`,
    `${api}.CONSUMER.LIST.KV_desired-state`,
    `${api}.CONSUMER.NAMES.KV_desired-state`,
    `${api}.CONSUMER.INFO.KV_desired-state.a_x`,
    `${api}.CONSUMER.DELETE.KV_desired-state.a_x`,
    `${api}.CONSUMER.MSG.NEXT.KV_desired-state.a_x`,
    `${api}.DIRECT.GET.KV_fleet-resources.$KV.fleet-resources.x`,
  ]),
  "$JS.API.DIRECT.GET.KV_desired-state.$KV.desired-state.b.x",
  "_INBOX_a.x",
  "_INBOX_fleet.x",
  "fleet.deliver.a.x",
  "$SYS.REQ.SERVER.PING",
  "$SYS.REQ.ACCOUNT.PING.JSZ",
  "anything",
];

fleetTest("every request about another device is refused, and changes nothing", async ({ operator, b }) => {
  const before = await allEntries(operator);
  for (const subject of FORBIDDEN_REQUESTS) {
    const error = await assertRejects(() => b.core.request({ subject, what: subject, isWrite: true }), FleetError);
    assertEquals(error.code, "E_BUS_AUTH", subject);
  }
  assertEquals(await allEntries(operator), before);
});

fleetTest("a device cannot listen to another's inbox, deliveries or keys", async ({ operator, a, b }) => {
  for (
    const subject of [
      ">",
      "_INBOX_a.>",
      "_INBOX_a.*.*",
      "_INBOX_fleet.>",
      "fleet.deliver.a.>",
      "fleet.deliver.*.>",
      "fleet.deliver.>",
      "$KV.>",
      "$KV.device-info.a",
      "$JS.EVENT.>",
      "$JS.FC.>",
      "$SYS.>",
      `${API}.>`,
    ]
  ) {
    const refused = Promise.withResolvers<Error | null>();
    b.core.connection.subscribe(subject, { callback: (error) => refused.resolve(error) });
    // Traffic that it would hear if it were let in.
    await (await a.bucket(BUCKETS.deviceInfo)).put("a", bytes("secret"));
    await snapshotMap(await a.bucket(BUCKETS.desiredState), "a.>");
    await (await operator.bucket(BUCKETS.upgradeIntent)).put("a", bytes("secret"));
    assert((await refused.promise) instanceof Error, subject);
  }
});

fleetTest("a request on an allowed subject whose body asks for more is refused", async ({ b }) => {
  const filter = "$KV.desired-state.b.>";
  const base = { name: "b_lie", deliver_policy: "all", ack_policy: "none", deliver_subject: "fleet.deliver.b.lie" };
  const stolen: string[] = [];
  b.core.connection.subscribe("fleet.deliver.b.>", {
    callback: (_error, message) => void stolen.push(message.subject),
  });
  for (
    const body of [
      { stream_name: "KV_desired-state", config: { ...base, filter_subject: "$KV.desired-state.a.>" } },
      { stream_name: "KV_desired-state", config: { ...base, filter_subject: "$KV.desired-state.>" } },
      { stream_name: "KV_desired-state", config: { ...base, filter_subjects: ["$KV.desired-state.a.>"] } },
      { stream_name: "KV_desired-state", config: { ...base, filter_subject: filter, filter_subjects: ["$KV.>"] } },
      { stream_name: "KV_desired-state", config: base },
      { stream_name: "KV_agent-upgrade-intent", config: { ...base, filter_subject: filter } },
    ]
  ) {
    const subject = `${API}.CONSUMER.CREATE.KV_desired-state.b_lie.${filter}`;
    await assertRejects(() => b.core.apiCall(subject, body, "lie"), FleetError);
  }
  const get = `${API}.DIRECT.GET.KV_desired-state.$KV.desired-state.b.x`;
  for (const body of [{ seq: 1 }, { last_by_subj: "$KV.desired-state.a.x" }, { multi_last: ["$KV.>"], batch: 9 }]) {
    const data = bytes(JSON.stringify(body));
    const { data: answer } = await b.core.request({ subject: get, what: "lie", data, isWrite: false });
    assert(!new TextDecoder().decode(answer).includes("of a"), JSON.stringify(body));
  }
  assertEquals(stolen, []);
});

fleetTest("no header of a write erases more than the device's own key", async ({ operator, b }) => {
  const before = (await allEntries(operator)).filter((line) => !line.includes("/b@"));
  for (const [name, value] of [["Nats-Rollup", "all"], ["Nats-Rollup", "sub"], ["KV-Operation", "PURGE"]] as const) {
    const fields = headers();
    fields.set(name, value);
    await b.core.request({
      subject: "$KV.device-info.b",
      what: name,
      data: bytes("x"),
      headers: fields,
      isWrite: true,
    });
  }
  assertEquals((await allEntries(operator)).filter((line) => !line.includes("/b@")), before);
});

fleetTest("a consumer that a device knows the name of stays whose it is", async ({ operator, a, b }) => {
  const watch = new WatchTaker(await a.bucket(BUCKETS.desiredState), "a.>");
  assertEquals((await watch.take(3)).at(-1), "current");
  const { consumers } = await operator.rawRequest("$JS.API.CONSUMER.NAMES.KV_desired-state", {});
  const [name] = consumers as string[];
  for (const action of ["", "update", "create"]) {
    const config = { name, deliver_policy: "all", ack_policy: "none", filter_subject: "$KV.desired-state.b.>" };
    const body = {
      stream_name: "KV_desired-state",
      action,
      config: { ...config, deliver_subject: "fleet.deliver.b.y" },
    };
    const subject = `${API}.CONSUMER.CREATE.KV_desired-state.${name}.$KV.desired-state.b.>`;
    await assertRejects(() => b.core.apiCall(subject, body, "take over"), FleetError);
  }
  await (await operator.bucket(BUCKETS.desiredState)).put("a.y", bytes("still"));
  assertEquals(await watch.next(), "a.y=still@5");
  await watch.end();
});

/** Where a device would like the server to send its answers: keys of others, and requests that destroy. */
const REPLY_TARGETS = [
  "$KV.agent-upgrade-intent.a",
  "$KV.desired-state.a.evil",
  "$KV.device-info.a",
  "$KV.device-heartbeat.a",
  "$KV.agent-upgrade-status.a",
  "$KV.fleet-resources.x",
  "$KV.device-groups.a",
  "$KV.device-groups.b",
  ...["$JS.API", API].flatMap((api) => [
    `${api}.STREAM.PURGE.KV_agent-upgrade-intent`,
    `${api}.STREAM.DELETE.KV_agent-upgrade-intent`,
    `${api}.STREAM.DELETE.KV_device-info`,
    `${api}.CONSUMER.CREATE.KV_desired-state.b_reflected.$KV.desired-state.a.>`,
  ]),
];

/** Sends everything that gets an answer, with each target as the place for it. */
async function sendWithForeignReplies(b: TestBus, api: string): Promise<void> {
  const info = await b.bucket(BUCKETS.deviceInfo);
  const reflected = {
    stream_name: "KV_desired-state",
    config: { name: "b_reflected", ack_policy: "none", filter_subject: "$KV.desired-state.a.>" },
  };
  for (const content of ["", JSON.stringify(reflected)]) {
    await info.put("b", bytes(content));
    for (const reply of REPLY_TARGETS) {
      const send = (subject: string, data: string) => b.core.connection.publish(subject, bytes(data), { reply });
      send("$KV.device-info.b", content);
      send(`${api}.DIRECT.GET.KV_device-info.$KV.device-info.b`, "");
      send(`${api}.DIRECT.GET.KV_agent-upgrade-intent.$KV.agent-upgrade-intent.b`, "");
      send(`${api}.CONSUMER.CREATE.KV_desired-state.b_z.$KV.desired-state.b.>`, "{}");
      send("$SYS.REQ.USER.INFO", "");
    }
  }
  // Answers come in the order of the requests; the last ones may still be on their way.
  for (let round = 0; round < 3; round++) await info.get("b");
}

fleetTest("the reply subject of a request reaches nothing of another device", async ({ operator, b }) => {
  const ofOthers = (lines: string[]) => lines.filter((line) => !line.startsWith("device-info/b@"));
  const before = ofOthers(await allEntries(operator));
  await sendWithForeignReplies(b, API);
  assertEquals(ofOthers(await allEntries(operator)), before);
  const { consumers } = await operator.rawRequest("$JS.API.CONSUMER.NAMES.KV_desired-state", {});
  assertEquals((consumers as string[] | null ?? []).filter((name) => name.includes("reflected")), []);
});

Deno.test("within one account the same replies do harm, which is why devices have their own", async () => {
  const permissions = devicePermissions("b");
  const allow = permissions.publish.allow.map((subject) => subject.replace(API, "$JS.API"));
  const server = await startNatsServer({
    config: usersConfig([
      { user: "operator", password: "x" },
      { user: "b", password: "x", permissions: { ...permissions, publish: { allow } } },
    ]),
  });
  const open = (user: string, device: { deviceId?: string }) =>
    openTestBus(server, { auth: { kind: "password", user, password: { value: "x" } }, ...device });
  const operator = await open("operator", {});
  await operator.ensureBuckets(BUCKET_SPECS, 10, 1);
  const intents = await operator.bucket(BUCKETS.upgradeIntent);
  await intents.put("a", bytes("intent of a"));
  const b = await open("b", { deviceId: "b" });
  await (await b.bucket(BUCKETS.deviceInfo)).put("b", bytes("forged"));
  const get = "$JS.API.DIRECT.GET.KV_device-info.$KV.device-info.b";
  b.core.connection.publish(get, bytes(""), { reply: "$KV.agent-upgrade-intent.a" });
  await waitUntil("the forged intent", async () => text(await intents.get("a")) === "forged");
  for (const bus of [b, operator]) await bus.close();
  await server.stop();
});

fleetTest("a delivery subject outside of the device's own reaches no bucket", async ({ operator, b }) => {
  const before = await allEntries(operator);
  for (const [index, target] of REPLY_TARGETS.entries()) {
    const name = `b_deliver${index}`;
    const config = { name, deliver_policy: "all", ack_policy: "none", deliver_subject: target, mem_storage: true };
    await b.core.apiRequest(
      `${API}.CONSUMER.CREATE.KV_desired-state.${name}.$KV.desired-state.b.>`,
      { stream_name: "KV_desired-state", config: { ...config, filter_subject: "$KV.desired-state.b.>" } },
      "deliver elsewhere",
    );
  }
  await (await operator.bucket(BUCKETS.desiredState)).put("b.x", bytes("entry of b"));
  await snapshotMap(await b.bucket(BUCKETS.desiredState), "b.>");
  const after = await allEntries(operator);
  const withoutWrite = (lines: string[]) => lines.filter((line) => !line.startsWith("desired-state/b.x@"));
  assertEquals(withoutWrite(after), withoutWrite(before));
});

fleetTest("what a device reads leaves no consumer behind", async ({ operator, b }) => {
  for (let round = 0; round < 3; round++) await snapshotMap(await b.bucket(BUCKETS.desiredState), "b.>");
  const watch = new WatchTaker(await b.bucket(BUCKETS.upgradeIntent), "b");
  await watch.take(2);
  await watch.end();
  await waitUntil("the end of all consumers", async () => {
    for (const bucket of ["desired-state", "agent-upgrade-intent"]) {
      const { consumers } = await operator.rawRequest(`$JS.API.CONSUMER.NAMES.KV_${bucket}`, {});
      if ((consumers as string[] | null ?? []).length > 0) return false;
    }
    return true;
  }, 30_000);
});
