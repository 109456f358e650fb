import { assertEquals, assertRejects } from "@std/assert";
import {
  SERVICE_START_TIMEOUT_MS,
  SYSTEM_TOOL_OUTPUT_MAX_BYTES,
  SYSTEM_TOOL_TIMEOUT_MS,
  UPDATER_START_BOUND_MS,
  UPDATER_STOP_BOUND_MS,
} from "../../contracts/limits.ts";
import { FleetError } from "../../contracts/errors.ts";
import { systemClock } from "../../lib/deadline.ts";
import { createLogger } from "../../lib/log.ts";
import type { RunOutcome } from "../process/run_bounded.ts";
import { systemdService, type SystemdServiceBounds } from "./systemd_service.ts";
import { type SystemTool, systemTool, type ToolRun } from "./system_tool.ts";

const ACTIVE = "ActiveState=active\nSubState=running\nResult=success\nInvocationID=aa\nMainPID=7\n";
const FAILED = "ActiveState=activating\nSubState=auto-restart\nResult=exit-code\nExecMainPID=7\nExecMainCode=1\n" +
  "ExecMainStatus=1\nInvocationID=aa\n";

interface Call {
  readonly words: string;
  readonly timeoutMs: number;
}

/** A service manager that answers from a table, by the verb. */
function scripted(
  answers: Readonly<Record<string, Partial<ToolRun> & { readonly text?: string }>>,
  bounds?: SystemdServiceBounds,
) {
  const calls: Call[] = [];
  const tool: SystemTool = (program, args, timeoutMs) => {
    const words = [program, ...args.filter((arg) => !arg.startsWith("--no-"))].join(" ");
    calls.push({ words, timeoutMs });
    const verb = Object.keys(answers).find((known) => words.includes(known)) ?? "";
    const { text = "", ...answer } = answers[verb] ?? {};
    const stdout = new TextEncoder().encode(text);
    return Promise.resolve({ end: "exit" as const, exitCode: 0, message: "said", stdout, ...answer });
  };
  const isPopulated = () => Promise.resolve(false);
  const log = createLogger({ sink: () => {} });
  return { calls, service: systemdService({ log, tool, isPopulated, ...(bounds === undefined ? {} : { bounds }) }) };
}

Deno.test("jobs have the updater's bounds, questions their own", async () => {
  const { calls, service } = scripted({ show: { text: ACTIVE } });
  await service.start();
  await service.stop();
  const timeoutOf = (verb: string) => calls.find(({ words }) => words.includes(` ${verb} `))?.timeoutMs;
  assertEquals([timeoutOf("start"), timeoutOf("stop")], [UPDATER_START_BOUND_MS, UPDATER_STOP_BOUND_MS]);
  assertEquals(timeoutOf("show"), SYSTEM_TOOL_TIMEOUT_MS);
});

Deno.test("bounds can be lowered, not raised", async () => {
  const boundOf = async (startTimeoutMs: number) => {
    const { calls, service } = scripted({ show: { text: ACTIVE } }, { startTimeoutMs });
    await service.start();
    return calls.find(({ words }) => words.includes(" start "))?.timeoutMs;
  };
  assertEquals(await boundOf(SERVICE_START_TIMEOUT_MS - 1), UPDATER_START_BOUND_MS - 1);
  assertEquals(await boundOf(SERVICE_START_TIMEOUT_MS), UPDATER_START_BOUND_MS);
  assertEquals(await boundOf(SERVICE_START_TIMEOUT_MS + 1), UPDATER_START_BOUND_MS);
});

Deno.test("the unit is looked at right after a failed start, before anything else is done", async () => {
  const { calls, service } = scripted({
    " start ": { exitCode: 1 },
    "show": { text: FAILED },
    "--lines": { text: "last words\n" },
  });
  const outcome = await service.start();
  assertEquals(outcome.kind === "failed" && outcome.lastLines, ["last words"]);
  assertEquals(calls.map(({ words }) => words.split(" ").slice(0, 2).join(" ")), [
    "systemctl start",
    "systemctl show",
    "systemctl is-system-running",
    "journalctl --sync",
    "journalctl --quiet",
  ]);
});

Deno.test("a failure while the system stops is no verdict", async () => {
  const { service } = scripted({
    " start ": { exitCode: 1 },
    "show": { text: FAILED },
    "is-system-running": { exitCode: 1, text: "stopping\n" },
  });
  const outcome = await service.start();
  assertEquals(outcome.kind === "no-verdict" && outcome.why, "stopping");
});

Deno.test("a service manager that does not answer is no verdict, and an error to who asks", async () => {
  const broken = { end: "broken", exitCode: -1, message: "systemctl cannot be started" } as const;
  const { service } = scripted({ systemctl: broken });
  const outcome = await service.start();
  assertEquals(outcome.kind === "no-verdict" && outcome.why, "bus-error");
  assertEquals((await service.stop()).kind, "no-verdict");
  await service.resetFailed();
  await assertRejects(() => service.show(), FleetError, "does not answer");
});

Deno.test("what is under way when the updater ends is no verdict", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const tool: SystemTool = async (_program, args, _timeoutMs, signal) => {
    if (args.includes("start")) {
      signal.addEventListener("abort", () => resolve());
      await promise;
    }
    const end = signal.aborted ? "abandoned" as const : "exit" as const;
    return { end, exitCode: 1, stdout: new TextEncoder().encode(FAILED), message: "said" };
  };
  const service = systemdService({ log: createLogger({ sink: () => {} }), tool });
  const starting = service.start();
  await service.close();
  const outcome = await starting;
  assertEquals(outcome.kind === "no-verdict" && outcome.why, "stopping");
});

Deno.test("systemTool() bounds time and output, and makes one line of what is said", async () => {
  const outcome: RunOutcome = {
    end: "exit",
    exitCode: 1,
    stdout: new Uint8Array(),
    stderr: new TextEncoder().encode("Job failed.\nSee the log.\n"),
    durationMs: 1,
  };
  const seen: number[] = [];
  const tool = systemTool(systemClock, (_command, { timeoutMs, maxOutputBytes }) => {
    seen.push(timeoutMs, maxOutputBytes);
    return Promise.resolve(outcome);
  });
  const { signal } = new AbortController();
  const run = await tool("systemctl", ["start", "x"], 5, signal);
  assertEquals([run.end, run.exitCode, run.message], ["exit", 1, "Job failed.; See the log."]);
  assertEquals(seen, [5, SYSTEM_TOOL_OUTPUT_MAX_BYTES]);
});
