import { assertEquals, assertThrows } from "@std/assert";
import { FleetError } from "../contracts/errors.ts";
import { groupId, userIds } from "./accounts.ts";

const PASSWD = "root:x:0:0:root:/root:/bin/bash\nfleet-agent:x:990:991::/nonexistent:/usr/sbin/nologin\nbroken:x:a:b\n";
const GROUP = "root:x:0:\nfleet-agent:x:991:\n";

Deno.test("userIds() and groupId() find the numbers of a name", () => {
  assertEquals(userIds(PASSWD, "fleet-agent"), { uid: 990, gid: 991 });
  assertEquals(groupId(GROUP, "fleet-agent"), 991);
});

Deno.test("userIds() and groupId() name the account that is not there", () => {
  assertThrows(() => userIds(PASSWD, "fleet"), FleetError, "user fleet");
  assertThrows(() => userIds(PASSWD, "broken"), FleetError, "user broken");
  assertThrows(() => groupId(GROUP, "wheel"), FleetError, "group wheel");
});
