import { assert, assertEquals, assertRejects } from "@std/assert";
import { FakeClock } from "../../../tests/fakes/fake_clock.ts";
import type { runBounded, RunOutcome } from "../../process/run_bounded.ts";
import type { ToolRun } from "../../systemd/system_tool.ts";
import { STEP_UNIT, unitCommand, type UnitCommandRun } from "./unit_command.ts";

const NONE = { stdout: new Uint8Array(), stderr: new Uint8Array(), durationMs: 5 };
const NEVER = new AbortController().signal;

/** Runs a command whose `systemd-run` ends in a way, and whose unit then shows properties. */
async function ended(outcome: Partial<RunOutcome>, properties = "ActiveState=failed\n"): Promise<{
  readonly run: UnitCommandRun;
  readonly args: readonly string[];
  readonly calls: readonly string[];
}> {
  const calls: string[] = [];
  let args: readonly string[] = [];
  const tool = (_program: string, words: readonly string[]): Promise<ToolRun> => {
    const verb = words.find((word) => !word.startsWith("-")) ?? "";
    calls.push(verb);
    const stdout = new TextEncoder().encode(verb === "show" ? properties : "");
    return Promise.resolve({ end: "exit", exitCode: 0, stdout, message: "" });
  };
  const run: typeof runBounded = (command) => {
    args = command.args;
    return Promise.resolve({ ...NONE, end: "exit", exitCode: 0, ...outcome });
  };
  const command = unitCommand({ clock: new FakeClock(), tool, run });
  return { run: await command(["apt-get", "update"], 60_000, NEVER), args, calls };
}

Deno.test("unitCommand() runs a command in a unit of one name, with apt's environment, and leaves no unit behind", async () => {
  const { run, args, calls } = await ended({ stdout: new TextEncoder().encode("Hit:1\n\nDone\n") });
  assertEquals([run.succeeded, run.exitCode, run.lines], [true, 0, ["Hit:1", "Done"]]);
  assert(args.includes(`--unit=${STEP_UNIT}`) && args.includes("--setenv=DEBIAN_FRONTEND=noninteractive"));
  assertEquals(args.slice(-3), ["--", "apt-get", "update"]);
  assertEquals(calls, ["kill", "stop", "reset-failed", "kill", "stop", "reset-failed"]);
});

Deno.test("unitCommand() tells an exit code from a signal, and from the bound of the unit or its own", async () => {
  const failed = await ended(
    { exitCode: 100 },
    "ActiveState=failed\nResult=exit-code\nExecMainCode=1\nExecMainStatus=100\n",
  );
  assertEquals([failed.run.exitCode, failed.run.signal, failed.run.timedOut], [100, undefined, undefined]);
  const killed = await ended(
    { exitCode: 255 },
    "ActiveState=failed\nResult=signal\nExecMainCode=2\nExecMainStatus=9\n",
  );
  assertEquals([killed.run.exitCode, killed.run.signal], [undefined, "SIGKILL"]);
  const late = await ended(
    { exitCode: 255 },
    "ActiveState=failed\nResult=timeout\nExecMainCode=2\nExecMainStatus=15\n",
  );
  assertEquals([late.run.timedOut, late.run.signal], [true, undefined]);
  assertEquals((await ended({ end: "timeout" })).run.timedOut, true);
  const chatty = await ended({ end: "output" });
  assertEquals([chatty.run.succeeded, chatty.run.lines], [false, ["apt-get update ended by output"]]);
});

Deno.test("unitCommand() tells that systemd-run cannot be started, and rejects when the updater stops", async () => {
  const tool = (): Promise<ToolRun> => Promise.resolve({ end: "exit", exitCode: 0, stdout: NONE.stdout, message: "" });
  const broken = unitCommand({
    clock: new FakeClock(),
    tool,
    run: () => Promise.reject(new Deno.errors.NotFound("no such program")),
  });
  const run = await broken(["apt-get", "update"], 60_000, NEVER);
  assertEquals([run.succeeded, run.lines.length], [false, 1]);
  const stopping = new AbortController();
  const stopped = unitCommand({
    clock: new FakeClock(),
    tool,
    run: () => {
      stopping.abort(new Error("stopping"));
      return Promise.resolve({ ...NONE, end: "canceled" });
    },
  });
  await assertRejects(() => stopped(["apt-get", "update"], 60_000, stopping.signal), Error, "stopping");
});
