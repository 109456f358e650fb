/**
 * The figures of issue 4: each is measured by the service manager's own log, on its monotonic clock.
 *
 * @module
 */
import { assertLessOrEqual } from "@std/assert";
import { ARCHITECTURES, type BinaryForm } from "../../../contracts/formats.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { AGENT, type LabFleet, UPDATER } from "../lab_fleet.ts";
import { buildLabProgram } from "../lab_program.ts";
import { assertEnd, type NoteFigure, type Scenario } from "../scenario.ts";

/** systemd's message ids. */
const STOPPING = "de5b426a63be47a7b6ac3eaac82e2f6f";
const STARTING = "7d4958e842da4a758f6c1cdc7b36dcc5";
const STARTED = "39f53479d3a045ac8e11786248231fbf";
const FAILED = "be02cf6855d2428ba40df7e9d022f03d";
const TRIVIAL = "trivial.service";
const ROUNDS = 5;

/** Times from each message of one kind to the next one of the other, in ms, oldest first. */
async function gapsMs(lab: LabFleet, unit: string, from: string, to: string): Promise<number[]> {
  const fields = "--output-fields=MESSAGE_ID";
  const log = await lab.device.sh(`journalctl -q -b -o json ${fields} _PID=1 UNIT=${unit}`);
  const entries = log.split("\n").map((line) =>
    JSON.parse(line) as { MESSAGE_ID?: string; __MONOTONIC_TIMESTAMP: string }
  );
  const gaps: number[] = [];
  let sinceUs: number | null = null;
  for (const { MESSAGE_ID, __MONOTONIC_TIMESTAMP } of entries) {
    if (MESSAGE_ID === from) sinceUs = Number(__MONOTONIC_TIMESTAMP);
    if (MESSAGE_ID === to && sinceUs !== null) {
      gaps.push((Number(__MONOTONIC_TIMESTAMP) - sinceUs) / 1_000);
      sinceUs = null;
    }
  }
  return gaps;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? Number.NaN);
}

async function noteMemory(lab: LabFleet, note: NoteFigure): Promise<void> {
  for (const [name, unit] of [["agent", AGENT], ["updater", UPDATER]] as const) {
    const pid = await lab.device.property(unit, "MainPID");
    const [resident = "0", anonymous = "0"] = (await lab.device.sh(
      `awk '/^VmRSS|^RssAnon/ { print $2 }' /proc/${pid}/status`,
    )).split("\n");
    note(`${name}_rss_mib`, Math.round(Number(resident) / 1_024));
    note(`${name}_anonymous_mib`, Math.round(Number(anonymous) / 1_024));
    // Both programs run on the same runtime, whose pages they share.
    const shared = await lab.device.sh(`awk '/^Pss:/ { print $2 }' /proc/${pid}/smaps_rollup`);
    note(`${name}_proportional_mib`, Math.round(Number(shared) / 1_024));
  }
}

/** Sizes of what a release has for devices: each program in each form. */
async function noteSizes(lab: LabFleet, note: NoteFigure): Promise<void> {
  const outPath = `${lab.fleet.directory}/measured`;
  for (const program of ["fleet-agent", "fleet-updater"] as const) {
    const forms = [
      ["script", Deno.build.arch] as const,
      ...ARCHITECTURES.map((arch) => ["compiled", arch] as const),
    ];
    for (const [form, arch] of forms) {
      await buildLabProgram({ program, version: "1.0.0", form, arch, outPath, denoPath: lab.denoPath });
      const { size } = await Deno.stat(outPath);
      await Deno.remove(outPath);
      note(`${program}_${form}${form === "script" ? "" : `_${arch}`}_kib`, Math.ceil(size / 1_024));
    }
  }
}

/** Stops and starts, until READY: of a unit that does nothing, and of the agent. */
async function notePlainRestarts(lab: LabFleet, note: NoteFigure): Promise<number> {
  const { device } = lab;
  await device.write(
    `/run/systemd/system/${TRIVIAL}`,
    "[Service]\nType=notify\nNotifyAccess=all\nExecStart=/bin/sh -c 'systemd-notify --ready; exec sleep infinity'\n",
  );
  await device.sh(`systemctl daemon-reload; systemctl start ${TRIVIAL}`);
  for (let round = 0; round < ROUNDS; round++) {
    await device.sh(`systemctl stop ${TRIVIAL}; systemctl start ${TRIVIAL}`);
    await device.sh(`systemctl stop ${AGENT}; systemctl start ${AGENT}`);
  }
  const plainMs = median(await gapsMs(lab, AGENT, STOPPING, STARTED));
  note("trivial_restart_ms", median(await gapsMs(lab, TRIVIAL, STOPPING, STARTED)));
  note("plain_restart_ms", plainMs);
  note("agent_start_ms", median(await gapsMs(lab, AGENT, STARTING, STARTED)));
  return plainMs;
}

/** Good upgrades and rollbacks. */
async function noteUpgrades(lab: LabFleet, form: BinaryForm, plainMs: number, note: NoteFigure): Promise<void> {
  const before = (await gapsMs(lab, AGENT, STOPPING, STARTED)).length;
  for (let round = 1; round <= ROUNDS; round++) {
    const version = `2.${round}.0`;
    await assertEnd(lab, await lab.release({ version, form }), { version, phase: "complete" });
  }
  const cutoverMs = median((await gapsMs(lab, AGENT, STOPPING, STARTED)).slice(before));
  note("cutover_ms", cutoverMs);
  note("cutover_over_plain", Math.round(100 * cutoverMs / plainMs) / 100);
  for (let round = 1; round <= ROUNDS; round++) {
    const version = `3.${round}.0`;
    await lab.behave({ [version]: { exitCode: 1 } });
    await assertEnd(lab, await lab.release({ version, form }), { version: `2.${ROUNDS}.0`, phase: "failed" });
  }
  // From the end of the start job: until the previous agent is started, and until it is READY.
  note("rollback_until_start_ms", median(await gapsMs(lab, AGENT, FAILED, STARTING)));
  note("rollback_until_ready_ms", median(await gapsMs(lab, AGENT, FAILED, STARTED)));
  // Far above the goal: a busy machine must not fail it, a second stop or start in the gap must.
  assertLessOrEqual(cutoverMs, 3 * plainMs);
}

/** Everything that is measured of devices with programs of one form. */
function figuresOf(form: BinaryForm): Scenario["run"] {
  return async (lab, note) => {
    const { device } = lab;
    const plainMs = await notePlainRestarts(lab, note);
    await noteUpgrades(lab, form, plainMs, note);
    await device.shutDown("reboot");
    await device.boot();
    await lab.agentReady(`2.${ROUNDS}.0`);
    const userspaceUs = Number(await device.sh("systemctl show -p UserspaceTimestampMonotonic --value"));
    const activeUs = Number(await device.property(AGENT, "ActiveEnterTimestampMonotonic"));
    note("boot_to_ready_ms", Math.round((activeUs - userspaceUs) / 1_000));
    // Idle: both have settled, which the second heartbeat of a boot shows.
    const first = await lab.heartbeat();
    await waitUntil("the next heartbeat", async () => await lab.heartbeat() !== first, 30_000);
    await noteMemory(lab, note);
  };
}

const figures: Scenario = {
  name: "figures",
  title: "cutover gap, plain restart, rollback, memory, boot and sizes are measured in one run",
  async run(lab, note) {
    await figuresOf("script")(lab, note);
    await noteSizes(lab, note);
  },
};

const compiledFigures: Scenario = {
  name: "compiled-figures",
  title: "the same of compiled programs, whose runtime is an older one here",
  options: { form: "compiled" },
  run: figuresOf("compiled"),
};

/** Figures. */
export const FIGURES: readonly Scenario[] = [figures, compiledFigures];
