/** Real processes: what a candidate's self-test may do, and what is left of it afterwards. */
import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { EXEC_BUSY_PAUSE_MS, PROBE_OUTPUT_MAX_BYTES, PROBE_TIMEOUT_MS } from "../../../contracts/limits.ts";
import { type Clock, systemClock } from "../../../lib/deadline.ts";
import type { ProbeOutcome } from "../../../updater/ports.ts";
import { selfTestProber, type SelfTestProberOptions } from "../../../updater/probe/self_test_prober.ts";
import { processInfo } from "../../../updater/process/process_table.ts";
import { FakeClock } from "../../fakes/fake_clock.ts";
import { waitUntil } from "../../nats/wait_until.ts";

const VERSION = "2.0.0";
const REPORT = JSON.stringify({
  schema: 1,
  version: VERSION,
  arch: Deno.build.arch,
  passed: true,
  checks: [{ name: "config", result: "ok", durationMs: 1 }],
});
const SAY_REPORT = `echo '${REPORT}'`;

interface World {
  readonly directory: string;
  /** Writes an executable shell script. */
  script(...lines: readonly string[]): Promise<string>;
  probe(path: string, options?: Partial<SelfTestProberOptions>, signal?: AbortSignal): Promise<ProbeOutcome>;
}

async function withWorld(test: (world: World) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "fleet-probe-" });
  await Deno.chmod(directory, 0o755);
  let scripts = 0;
  try {
    await test({
      directory,
      script: async (...lines) => {
        const path = `${directory}/candidate-${++scripts}`;
        await Deno.writeTextFile(path, ["#!/bin/sh", ...lines, ""].join("\n"), { mode: 0o755 });
        return path;
      },
      probe: (path, options = {}, signal = new AbortController().signal) =>
        selfTestProber({ configPath: `${directory}/agent.json`, ...options }).probe(path, VERSION, signal),
    });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

function verdict(outcome: ProbeOutcome): string {
  return outcome.kind === "passed" ? "passed" : `${outcome.reason} ${outcome.failureClass}`;
}

function linesOf(outcome: ProbeOutcome): readonly string[] {
  return outcome.kind === "passed" ? [] : outcome.postMortem.lastLines ?? [];
}

Deno.test("the candidate is run with its self-test's arguments and nothing on standard input", () =>
  withWorld(async ({ directory, script, probe }) => {
    const path = await script(
      `[ "$*" = "--self-test --config ${directory}/agent.json" ] || exit 3`,
      '[ -z "$(cat)" ] || exit 4',
      SAY_REPORT,
    );
    assertEquals(verdict(await probe(path)), "passed");
  }));

Deno.test("a candidate that is a deno program passes", () =>
  withWorld(async ({ directory, script, probe }) => {
    await Deno.writeTextFile(`${directory}/candidate.js`, `console.log(${JSON.stringify(REPORT)});`);
    const path = await script(
      `exec '${Deno.execPath()}' run --no-config --cached-only '${directory}/candidate.js' "$@"`,
    );
    assertEquals(verdict(await probe(path)), "passed");
  }));

Deno.test("each bad candidate gets its verdict", () =>
  withWorld(async ({ script, probe }) => {
    const other = REPORT.replace(VERSION, "2.0.1");
    const nats = REPORT.replace("true", "false").replace('"ok"', '"failed"').replace("config", "nats");
    const cases: readonly (readonly [readonly string[], string])[] = [
      [[`echo '${other}'`], "VersionMismatch version"],
      [[`echo '${nats}'`, "exit 75"], "EnvironmentUnavailable environment"],
      [["exit 75"], "EnvironmentUnavailable environment"],
      [["exit 0"], "ReportInvalid version"],
      [["exit 1"], "ReportInvalid version"],
      [["echo hello"], "ReportInvalid version"],
      [[SAY_REPORT, SAY_REPORT], "ReportInvalid version"],
      [[SAY_REPORT, "exit 1"], "SelfTestFailed version"],
      [[SAY_REPORT, "kill -SEGV $$"], "ProbeKilled version"],
      [["exec /nonexistent/interpreter"], "ReportInvalid version"],
    ];
    for (const [lines, expected] of cases) assertEquals(verdict(await probe(await script(...lines))), expected);
  }));

Deno.test("a self-test that does not end within its limit is killed with all that it started", () =>
  withWorld(async ({ directory, script, probe }) => {
    const path = await script(
      "trap '' TERM INT HUP",
      "echo waiting >&2",
      `sleep 600 & echo $! > ${directory}/child`,
      `setsid sleep 600 & echo $! > ${directory}/escaped`,
      `touch ${directory}/all; while :; do sleep 600; done`,
    );
    const clock = new FakeClock();
    const probing = probe(path, { clock, timeoutMs: 2 * PROBE_TIMEOUT_MS });
    await waitUntil("it waits", () => Deno.stat(`${directory}/all`).then(() => true, () => false));
    await clock.advance(PROBE_TIMEOUT_MS - 1);
    assertEquals(clock.sleeping, 1);
    await clock.advance(1);
    const outcome = await probing;
    assertEquals(verdict(outcome), "ProbeTimeout version");
    assertEquals(linesOf(outcome), ["waiting"]);
    for (const name of ["child", "escaped"]) {
      const pid = Number(await Deno.readTextFile(`${directory}/${name}`));
      assert(pid > 1);
      await waitUntil(`${name} is gone`, () => processInfo(pid)?.ended !== false);
    }
  }));

Deno.test("a descendant that holds the output open does not hold the verdict", () =>
  withWorld(async ({ directory, script, probe }) => {
    for (const [index, start] of ["sleep 600", "setsid sleep 600"].entries()) {
      const path = await script(SAY_REPORT, `${start} & echo $! > ${directory}/holder-${index}`);
      const startMs = performance.now();
      assertEquals(verdict(await probe(path)), "passed");
      assertLess(performance.now() - startMs, 10_000);
      const pid = Number(await Deno.readTextFile(`${directory}/holder-${index}`));
      await waitUntil("the descendant is gone", () => processInfo(pid)?.ended !== false);
    }
  }));

Deno.test("output is read up to its limit, and a candidate that prints more is killed", () =>
  withWorld(async ({ script, probe }) => {
    const fill = (extra: number) => {
      const count = PROBE_OUTPUT_MAX_BYTES - REPORT.length - 1 + extra;
      return script(SAY_REPORT, `head -c ${count} /dev/zero >&2`);
    };
    assertEquals(verdict(await probe(await fill(-1))), "passed");
    assertEquals(verdict(await probe(await fill(0))), "passed");
    assertEquals(verdict(await probe(await fill(1))), "ProbeOutputTooLarge version");
    assertEquals(verdict(await probe(await script("yes"))), "ProbeOutputTooLarge version");
    assertEquals(verdict(await probe(await script("yes >&2"))), "ProbeOutputTooLarge version");
  }));

Deno.test("the candidate sees its own environment only", async () => {
  Deno.env.set("FLEET_TEST_SECRET", "s3cret");
  try {
    await withWorld(async ({ script, probe }) => {
      const outcome = await probe(await script("env | sort >&2"), { environment: { HTTPS_PROXY: "http://proxy:1" } });
      const names = linesOf(outcome).map((line) => line.split("=")[0]).filter((name) => name !== "_" && name !== "PWD");
      assertEquals(names, ["FLEET_AGENT_BOOT_ID", "HTTPS_PROXY", "INVOCATION_ID", "LANG", "PATH"]);
    });
  } finally {
    Deno.env.delete("FLEET_TEST_SECRET");
  }
});

Deno.test("what cannot be executed is the candidate's fault", () =>
  withWorld(async ({ directory, script, probe }) => {
    const foreign = new Uint8Array(64);
    foreign.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
    foreign[18] = 243;
    await Deno.writeFile(`${directory}/foreign`, foreign, { mode: 0o755 });
    await Deno.writeTextFile(`${directory}/text`, "echo hello\n", { mode: 0o755 });
    await Deno.writeTextFile(`${directory}/empty`, "", { mode: 0o755 });
    const plain = await script(SAY_REPORT);
    await Deno.chmod(plain, 0o644);
    const unknown = await script(SAY_REPORT);
    await Deno.writeTextFile(unknown, `#!/nonexistent/interpreter\n`);
    for (const path of [`${directory}/foreign`, `${directory}/text`, `${directory}/empty`, plain, directory, "/none"]) {
      const outcome = await probe(path);
      assertEquals(verdict(outcome), "NotExecutable version", path);
    }
    assertStringIncludes(verdict(await probe(unknown)), " version");
  }));

Deno.test("a candidate that is still open for writing is waited for, and not for ever", () =>
  withWorld(async ({ script, probe }) => {
    const path = await script(SAY_REPORT);
    const writer = await Deno.open(path, { write: true });
    // Closed in the first pause, which comes only after a try has found the file busy.
    let pauses = 0;
    const sleep: Clock["sleep"] = (ms, signal) => {
      if (ms === EXEC_BUSY_PAUSE_MS && ++pauses === 1) writer.close();
      return systemClock.sleep(ms, signal);
    };
    const clock = { nowMs: () => systemClock.nowMs(), monotonicMs: () => systemClock.monotonicMs(), sleep };
    assertEquals(verdict(await probe(path, { clock })), "passed");
    assert(pauses >= 1);
    using _held = await Deno.open(path, { write: true });
    assertStringIncludes(verdict(await probe(path)), " version");
  }));

Deno.test("canceling ends a probe, and is no verdict on the candidate", () =>
  withWorld(async ({ directory, script, probe }) => {
    const path = await script(`touch ${directory}/started`, "sleep 600");
    const canceling = new AbortController();
    const probing = probe(path, {}, canceling.signal);
    await waitUntil("it has started", () => Deno.stat(`${directory}/started`).then(() => true, () => false));
    canceling.abort();
    assertEquals(verdict(await probing), "ProbeCanceled internal");
    assertEquals(verdict(await probe(path, {}, AbortSignal.abort())), "ProbeCanceled internal");
  }));

Deno.test({
  name: "as root, the candidate runs as the agent's user without groups and without a way to new privileges",
  ignore: Deno.uid() !== 0,
  fn: () =>
    withWorld(async ({ script, probe }) => {
      const path = await script(
        'echo "$(id -u) $(id -g) $(id -G) $HOME $USER" >&2; grep NoNewPrivs /proc/self/status >&2',
      );
      const user = { uid: 65_534, gid: 65_534, name: "nobody", home: "/nonexistent" };
      assertEquals(linesOf(await probe(path, { user })), ["65534 65534 65534 /nonexistent nobody", "NoNewPrivs: 1"]);
    }),
});
