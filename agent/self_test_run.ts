/**
 * `fleet-agent --self-test`: the checks of a start up to the snapshot, with the real configuration, on a device whose
 * live agent goes on working. It takes no lock, starts no loop, publishes nothing and changes nothing
 * (`Fleet agent upgrades`, Preparation and probe; DESIGN 5, Probe).
 *
 * @module
 */
import { desiredStateFilter, deviceKey, generationKey } from "../contracts/buckets.ts";
import { errorText, type FailureClass, isFleetError } from "../contracts/errors.ts";
import { bounded } from "../contracts/formats.ts";
import { SOCKET_STATUS_TIMEOUT_MS } from "../contracts/limits.ts";
import type { SelfTestCheck, SelfTestReport } from "../contracts/self_test_report.ts";
import type { Bus } from "../lib/bus/port.ts";
import { snapshotMap } from "../lib/bus/snapshot_map.ts";
import type { Clock } from "../lib/deadline.ts";
import { silentLogger } from "../lib/log.ts";
import { silentNotifier } from "../lib/systemd/notify.ts";
import type { AgentConfig } from "./config.ts";
import type { DeviceFacts } from "./device_facts.ts";
import { clockProblem } from "./startup/clock_sanity.ts";
import type { ContainerEngine } from "./podman/port.ts";
import { connectNats, type Connector } from "./startup/connect_nats.ts";
import { type AgentBuckets, openBuckets } from "./startup/open_buckets.ts";
import { ReadinessReporter } from "./startup/readiness_reporter.ts";
import { RetryWindow } from "./startup/retry_window.ts";
import { StartupError } from "./startup/startup_error.ts";
import type { UpdaterClient } from "./upgrade/updater_client.ts";

/** What the self-test works with. */
export interface SelfTestPorts {
  readonly facts: Pick<DeviceFacts, "version" | "arch" | "form">;
  readonly clock: Clock;
  /** Loads the real configuration. */
  readonly loadConfig: () => Promise<AgentConfig>;
  readonly connector: (config: AgentConfig) => Connector;
  readonly updater: (config: AgentConfig) => UpdaterClient;
  /** Null when the agent manages no workloads. */
  readonly engine: (config: AgentConfig) => ContainerEngine | null;
}

/** What the checks find out for one another. */
interface Findings {
  config?: AgentConfig;
  bus?: Bus;
  buckets?: AgentBuckets;
}

/** What a check that ran has to say; undefined when all is well. */
type Result = Pick<SelfTestCheck, "result" | "reason"> | void;

interface Check {
  readonly name: string;
  /** Names of the checks that it needs. */
  readonly needs: readonly string[];
  run(findings: Findings, ports: SelfTestPorts, signal: AbortSignal): Promise<Result>;
}

function need<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a check ran without the one that it needs");
  return value;
}

/** In the order of a start. */
const CHECKS: readonly Check[] = [
  {
    name: "config",
    needs: [],
    async run(findings, { loadConfig }) {
      findings.config = await loadConfig();
    },
  },
  {
    name: "podman",
    needs: ["config"],
    async run(findings, { engine }, signal) {
      const podman = engine(need(findings.config));
      if (podman === null) return { result: "skipped", reason: "Podman is not enabled" };
      await podman.version(signal);
      return undefined;
    },
  },
  {
    name: "clock",
    needs: [],
    run(_findings, { clock }) {
      const problem = clockProblem(clock.nowMs());
      return problem === null ? Promise.resolve() : Promise.reject(problem);
    },
  },
  { name: "nats", needs: ["config"], run: checkNats },
  {
    name: "buckets",
    needs: ["nats"],
    async run(findings) {
      findings.buckets = await openBuckets(need(findings.bus));
    },
  },
  { name: "keys", needs: ["buckets"], run: readKeys },
  {
    name: "updater",
    needs: ["config"],
    async run(findings, { updater }, signal) {
      await updater(need(findings.config)).status(SOCKET_STATUS_TIMEOUT_MS, signal);
    },
  },
  {
    name: "snapshot",
    needs: ["buckets"],
    async run(findings) {
      const { desiredState } = need(findings.buckets);
      await snapshotMap(desiredState, desiredStateFilter(need(findings.config).deviceId));
    },
  },
];

async function checkNats(findings: Findings, ports: SelfTestPorts, signal: AbortSignal): Promise<void> {
  const config = need(findings.config);
  const reporter = new ReadinessReporter(silentNotifier, silentLogger);
  const { natsRetryWindowMs: windowMs, startupRetryMs: pauseMs } = config.bounds;
  const window = new RetryWindow({ windowMs, pauseMs, clock: ports.clock, reporter });
  const connect = ports.connector(config);
  findings.bus = await connectNats({ connect, window, reporter, clock: ports.clock }, signal);
}

/** Reads what the device may read of its own, whether or not there is anything. */
async function readKeys(findings: Findings): Promise<void> {
  const { deviceId } = need(findings.config);
  const { desiredState, deviceInfo, upgradeIntent, upgradeStatus } = need(findings.buckets);
  await Promise.all([
    desiredState.get(generationKey(deviceId)),
    deviceInfo.get(deviceKey(deviceId)),
    upgradeIntent.get(deviceKey(deviceId)),
    upgradeStatus.get(deviceKey(deviceId)),
  ]);
}

/** What this program cannot read or do is its own fault; what it cannot reach is its surroundings'. */
function classOf(error: unknown): FailureClass {
  return isFleetError(error) && error.failureClass === "environment" ? "environment" : "version";
}

function reasonOf(error: unknown): string {
  const step = error instanceof StartupError && error.step !== "nats" ? `${error.step}: ` : "";
  return bounded(`${step}${errorText(error)}`.toWellFormed());
}

async function runCheck(
  check: Check,
  findings: Findings,
  failed: ReadonlySet<string>,
  ports: SelfTestPorts,
  signal: AbortSignal,
): Promise<SelfTestCheck> {
  const { name } = check;
  const missing = check.needs.find((need) => failed.has(need));
  if (missing !== undefined) return { name, result: "skipped", reason: `${missing} is not there`, durationMs: 0 };
  const startedMs = ports.clock.monotonicMs();
  const durationMs = () => Math.round(ports.clock.monotonicMs() - startedMs);
  try {
    const said = await check.run(findings, ports, signal);
    return { name, result: "ok", durationMs: durationMs(), ...said };
  } catch (error) {
    signal.throwIfAborted();
    return { name, result: "failed", reason: reasonOf(error), failureClass: classOf(error), durationMs: durationMs() };
  }
}

/**
 * Runs all checks; one whose need has failed is skipped.
 *
 * @param ports What it works with
 * @param signal Ends it; the call then rejects with its reason
 * @returns the report
 */
export async function selfTestRun(ports: SelfTestPorts, signal: AbortSignal): Promise<SelfTestReport> {
  const findings: Findings = {};
  const checks: SelfTestCheck[] = [];
  const missing = new Set<string>();
  try {
    for (const check of CHECKS) {
      const done = await runCheck(check, findings, missing, ports, signal);
      checks.push(done);
      if (done.result === "failed" || (done.result === "skipped" && check.needs.some((name) => missing.has(name)))) {
        missing.add(check.name);
      }
    }
  } finally {
    await findings.bus?.close();
  }
  const { version, arch, form } = ports.facts;
  return {
    schema: 1,
    version,
    arch,
    ...(form === "source" ? {} : { form }),
    passed: checks.every(({ result }) => result !== "failed"),
    checks,
  };
}
