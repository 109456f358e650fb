import { fileURLToPath } from "node:url";
import { assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { withDeadline } from "../../lib/deadline.ts";

const FIXTURE = fileURLToPath(new URL("./fixtures/program.ts", import.meta.url));
const WAIT_MS = 30_000;

function command(...args: string[]): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "--allow-all", FIXTURE, ...args],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    env: { NO_COLOR: "1" },
  });
}

interface Ending {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function ended({ code, stdout, stderr }: Deno.CommandOutput): Ending {
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

async function run(...args: string[]): Promise<Ending> {
  return ended(await withDeadline(WAIT_MS, `run ${args}`, () => command(...args).output()));
}

/** Starts a program and hands it to a test; it does not outlive the test. */
async function withChild<T>(ending: string, use: (child: Deno.ChildProcess) => Promise<T>): Promise<T> {
  const child = command(ending).spawn();
  try {
    return await withDeadline(WAIT_MS, `run ${ending}`, () => use(child));
  } finally {
    try {
      child.kill("SIGKILL");
    } catch {
      // Ended already.
    }
    await child.status;
  }
}

/** Starts a program, waits for each line of its output in turn, and sends the signal that belongs to it. */
function runWithSignals(ending: string, signals: readonly [string, Deno.Signal][]): Promise<Ending> {
  return withChild(ending, async (child) => {
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const stderr = new Response(child.stderr).text();
    let stdout = "";
    const pending = [...signals];
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      stdout += chunk.value;
      while (pending[0] !== undefined && stdout.includes(pending[0][0])) child.kill(pending.shift()?.[1]);
    }
    return { code: (await child.status).code, stdout, stderr: await stderr };
  });
}

Deno.test("a program ends with the code that its work returns", async () => {
  assertEquals(await run("ok"), { code: 0, stdout: "", stderr: "" });
  assertEquals((await run("seven")).code, 7);
});

Deno.test("work that is left over does not hold a program up", async () => {
  assertEquals((await run("leftover")).code, 0);
});

Deno.test("a typed error is one line on standard error, or one of the log", async () => {
  assertEquals(await run("fleet"), { code: 1, stdout: "", stderr: "fixture: Cannot do it: the sky fell\n" });
  const logged = await run("fleet", "log");
  assertEquals(logged.code, 1);
  const { level, message, error } = JSON.parse(logged.stderr);
  assertEquals([level, message, error], ["error", "ended by an error", "Cannot do it: the sky fell (E_SKY)"]);
});

Deno.test("a defect is one line with its place, and code 70", async () => {
  const plain = await run("defect");
  assertEquals(plain.code, 70);
  assertStringIncludes(plain.stderr, "fixture: internal error: x is not a function at ");
  assertEquals(plain.stderr.trimEnd().split("\n").length, 1);
  const logged = JSON.parse((await run("defect", "log")).stderr);
  assertEquals(logged.message, "ended by a defect");
  assertStringIncludes(logged.stack, "fixtures/program.ts");
});

Deno.test("an error that nobody caught is one line without secrets, and code 70", async () => {
  const uncaught = await run("uncaught");
  assertEquals(uncaught.code, 70);
  assertStringIncludes(uncaught.stderr, "nobody caught this from nats://[redacted]@host");
  assertFalse(uncaught.stderr.includes("hunter2"));
  assertEquals(uncaught.stderr.trimEnd().split("\n").length, 1);
});

Deno.test("a rejection that nobody caught is classified like one that was", async () => {
  assertEquals(await run("rejected"), { code: 75, stdout: "", stderr: "fixture: Cannot wait\n" });
});

Deno.test("an error that is known to be harmless is dropped", async () => {
  assertEquals(await run("harmless"), { code: 0, stdout: "survived\n", stderr: "" });
});

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  Deno.test(`${signal} lets a daemon drain and end with 0`, async () => {
    const { code, stdout } = await runWithSignals("drain", [["running", signal]]);
    assertEquals([code, stdout], [0, `running\ndrained: Stopped by ${signal}\n`]);
  });
}

Deno.test("a command that a signal interrupts ends silently with 128 and its number", async () => {
  const interrupted = await runWithSignals("interrupted", [["running", "SIGTERM"]]);
  assertEquals(interrupted, { code: 143, stdout: "running\n", stderr: "" });
});

Deno.test("a second SIGINT ends at once, a second SIGTERM does not", async () => {
  const { code } = await runWithSignals("stubborn", [["running", "SIGINT"], ["still running", "SIGINT"]]);
  assertEquals(code, 130);
  await withChild("stubborn", async (child) => {
    const reader = child.stdout.getReader();
    await reader.read();
    child.kill("SIGTERM");
    await reader.read();
    child.kill("SIGTERM");
    child.kill("SIGKILL");
    assertEquals((await child.status).signal, "SIGKILL");
    await reader.cancel();
    await child.stderr.cancel();
  });
});

Deno.test("a reader that has seen enough ends a command quietly", () =>
  withChild("pipe", async (child) => {
    const reader = child.stdout.getReader();
    await reader.read();
    await reader.cancel();
    const stderr = await new Response(child.stderr).text();
    assertEquals({ code: (await child.status).code, stderr }, { code: 141, stderr: "" });
  }));
