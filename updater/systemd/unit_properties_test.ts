import { assertEquals } from "@std/assert";
import { decodeUnitProperties } from "./unit_properties.ts";

/** As systemd 252 printed it right after a start that ran into its time limit. */
const NEVER_READY = `MainPID=0
StatusText=[snapshot] waiting for a=b
Result=timeout
NRestarts=0
ExecMainPID=155
ExecMainCode=2
ExecMainStatus=15
ControlGroup=
ActiveState=activating
SubState=auto-restart
ConditionResult=yes
InvocationID=82810ac9ab8c48e3b5c266333e1485e7
`;

Deno.test("decodeUnitProperties() reads what systemctl shows, in any order", () => {
  const expected = {
    active: "activating",
    sub: "auto-restart",
    result: "timeout",
    mainPid: 0,
    execPid: 155,
    execCode: "killed",
    execStatus: 15,
    statusText: "[snapshot] waiting for a=b",
    invocationId: "82810ac9ab8c48e3b5c266333e1485e7",
    restarts: 0,
    controlGroup: "",
    conditionMet: true,
  } as const;
  assertEquals(decodeUnitProperties(NEVER_READY), expected);
  assertEquals(decodeUnitProperties(NEVER_READY.split("\n").reverse().join("\n")), expected);
});

Deno.test("decodeUnitProperties() takes the states that it does not know of for the nearest one", () => {
  const activeOf = (state: string) => decodeUnitProperties(`ActiveState=${state}`)?.active;
  assertEquals(["reloading", "refreshing", "maintenance", "failed"].map(activeOf), [
    "active",
    "active",
    "inactive",
    "failed",
  ]);
});

Deno.test("decodeUnitProperties() of anything else is null, and of odd numbers 0", () => {
  for (const text of ["", "ActiveState=", "ActiveState=odd", "Failed to connect to bus"]) {
    assertEquals(decodeUnitProperties(text), null, text);
  }
  const odd = decodeUnitProperties("ActiveState=active\nMainPID=-1\nNRestarts=[not set]\nExecMainCode=9");
  assertEquals([odd?.mainPid, odd?.restarts, odd?.execCode], [0, 0, "none"]);
});
