import { assert, assertEquals, assertThrows } from "@std/assert";
import { FleetError } from "./errors.ts";
import { deviceAccount, devicePermissions } from "./device_permissions.ts";
import { USER_INFO_SUBJECT } from "./subjects.ts";

/** Whether a literal subject matches a pattern, by the rules of NATS. */
function matches(pattern: string, subject: string): boolean {
  const want = pattern.split(".");
  const have = subject.split(".");
  for (const [index, token] of want.entries()) {
    if (token === ">") return have.length > index;
    if (index >= have.length || (token !== "*" && token !== have[index])) return false;
  }
  return want.length === have.length;
}

const permissions = devicePermissions("device-1");
const maySend = (subject: string) => permissions.publish.allow.some((pattern) => matches(pattern, subject));
const mayHear = (subject: string) => permissions.subscribe.allow.some((pattern) => matches(pattern, subject));

Deno.test({
  name: "devicePermissions() allows what an agent does",
  permissions: "none",
  fn() {
    const allowed = [
      "$KV.device-info.device-1",
      "$KV.device-heartbeat.device-1",
      "$KV.agent-upgrade-status.device-1",
      "$KV.system-upgrade-status.device-1.run-1",
      "$JS.fleet.API.DIRECT.GET.KV_system-upgrade-intent.$KV.system-upgrade-intent.device-1.run-1",
      "$JS.fleet.API.CONSUMER.CREATE.KV_system-upgrade-intent.device-1_x1.$KV.system-upgrade-intent.device-1.*",
      "$JS.fleet.API.DIRECT.GET.KV_agent-upgrade-intent.$KV.agent-upgrade-intent.device-1",
      "$JS.fleet.API.DIRECT.GET.KV_agent-upgrade-status.$KV.agent-upgrade-status.device-1",
      "$JS.fleet.API.DIRECT.GET.KV_desired-state.$KV.desired-state.device-1._generation",
      "$JS.fleet.API.CONSUMER.CREATE.KV_desired-state.device-1_x1.$KV.desired-state.device-1.>",
      "$JS.fleet.API.CONSUMER.CREATE.KV_agent-upgrade-intent.device-1_x1.$KV.agent-upgrade-intent.device-1",
      "$KV.deployment-status.device-1.5b0f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d",
      "$JS.fleet.API.DIRECT.GET.KV_deployment-status.$KV.deployment-status.device-1.x",
      "$JS.fleet.API.CONSUMER.CREATE.KV_deployment-status.device-1_x1.$KV.deployment-status.device-1.*",
      "$SYS.REQ.USER.INFO",
      "$JS.FC.KV_desired-state.device-1_x1.a1",
    ];
    for (const subject of allowed) assert(maySend(subject), subject);
    assert(mayHear("_INBOX_device-1.abc"));
    assert(mayHear("_INBOX_device-1.abc.def"));
    assert(mayHear("fleet.deliver.device-1.abc"));
  },
});

Deno.test({
  name: "devicePermissions() allows nothing of another device, the operator or the server",
  permissions: "none",
  fn() {
    const denied = [
      // Its own intent and desired state are written by the operator only.
      "$KV.agent-upgrade-intent.device-1",
      "$KV.desired-state.device-1._generation",
      "$KV.system-upgrade-intent.device-1.run-1",
      "$KV.system-upgrade-status.device-2.run-1",
      "$KV.system-upgrade-status.device-1",
      // Plans and history name other devices.
      "$JS.API.DIRECT.GET.KV_task-plan.$KV.task-plan.run-1",
      "$JS.API.DIRECT.GET.KV_task-history.$KV.task-history.run-1",
      "$JS.API.CONSUMER.CREATE.KV_system-upgrade-intent.device-1_x1.$KV.system-upgrade-intent.*.run-1",
      "$JS.API.DIRECT.GET.KV_system-upgrade-status.$KV.system-upgrade-status.device-2.run-1",
      // Another device's data, names that begin alike included.
      "$KV.agent-upgrade-status.device-2",
      "$KV.agent-upgrade-status.device-11",
      "$KV.device-info.device-1.x",
      "$JS.API.DIRECT.GET.KV_desired-state.$KV.desired-state.device-2._generation",
      "$JS.API.DIRECT.GET.KV_fleet-resources.$KV.fleet-resources.Device.device-1",
      "$KV.deployment-status.device-2.x",
      "$KV.deployment-status.device-11.x",
      "$KV.deployment-status.device-1",
      "$KV.deployment-status.device-1.x.y",
      "$JS.API.DIRECT.GET.KV_deployment-status.$KV.deployment-status.device-2.x",
      "$JS.API.CONSUMER.CREATE.KV_deployment-status.device-1_x1.$KV.deployment-status.*.x",
      "$JS.API.CONSUMER.CREATE.KV_deployment-status.device-1_x1.$KV.deployment-status.>",
      // What authorizes it, its own included.
      "$KV.device-groups.device-1",
      "$JS.API.DIRECT.GET.KV_device-groups.$KV.device-groups.device-1",
      "$JS.API.DIRECT.GET.KV_desired-state",
      // Consumers without a filter, with a wider one, or in the older forms.
      "$JS.API.CONSUMER.CREATE.KV_desired-state",
      "$JS.API.CONSUMER.CREATE.KV_desired-state.device-1_x1",
      "$JS.API.CONSUMER.CREATE.KV_desired-state.device-1_x1.>",
      "$JS.API.CONSUMER.CREATE.KV_desired-state.device-1_x1.$KV.desired-state.>",
      "$JS.API.CONSUMER.CREATE.KV_desired-state.device-1_x1.$KV.desired-state.device-2.>",
      "$JS.API.CONSUMER.DURABLE.CREATE.KV_desired-state.device-1_x1",
      "$JS.API.CONSUMER.MSG.NEXT.KV_desired-state.device-2_x1",
      "$JS.API.CONSUMER.LIST.KV_desired-state",
      "$JS.API.CONSUMER.NAMES.KV_desired-state",
      "$JS.API.STREAM.INFO.KV_desired-state",
      "$JS.API.STREAM.MSG.GET.KV_desired-state",
      "$JS.API.STREAM.PURGE.KV_agent-upgrade-status",
      "$JS.API.INFO",
      "$JS.API.CONSUMER.DELETE.KV_desired-state.device-1_x1",
    ];
    for (const subject of denied) {
      assert(!maySend(subject), subject);
      const local = subject.replace("$JS.API.", "$JS.fleet.API.");
      assert(!maySend(local), local);
    }
    for (const subject of ["_INBOX_device-2.abc", "_INBOX.abc", "fleet.deliver.device-1.abc", "anything"]) {
      assert(!maySend(subject), subject);
    }
    for (
      const subject of [
        "_INBOX_device-2.abc",
        "_INBOX.abc",
        "$KV.desired-state.device-1.x",
        "_INBOX_device-1",
        "fleet.deliver.device-2.abc",
      ]
    ) {
      assert(!mayHear(subject), subject);
    }
  },
});

Deno.test({
  name: "devicePermissions() refuses an id that is unsafe in a subject",
  permissions: "none",
  fn() {
    for (const id of ["", "*", ">", "a.b", "a b", "A", "-a", "a-", "a".repeat(64), "a\n"]) {
      assertEquals(assertThrows(() => devicePermissions(id), FleetError).code, "E_DECODE", JSON.stringify(id));
    }
    devicePermissions("a".repeat(63));
  },
});

Deno.test({
  name: "deviceAccount() covers the permissions of every device, and no more of the API",
  permissions: "none",
  fn() {
    const { services, streams, mappings } = deviceAccount();
    for (const allowed of permissions.publish.allow) {
      if (allowed === USER_INFO_SUBJECT) continue;
      // A wildcard of the permission stands for any token of the import.
      const literal = allowed.replaceAll("*", "x").replaceAll(">", "x");
      assert(services.some((service) => matches(service, literal)), allowed);
    }
    for (const service of services) {
      assert(
        /^\$KV\.|^\$JS\.FC\.|^\$JS\.fleet\.API\.(DIRECT\.GET|CONSUMER\.CREATE)\.KV_[a-z-]+\./.test(service),
        service,
      );
      assert(!/intent|desired-state|resources|task/.test(service) || !service.startsWith("$KV."), service);
    }
    assertEquals(streams, ["fleet.deliver.>"]);
    assertEquals(mappings, { "$JS.fleet.API.>": "$JS.API.>" });
  },
});
