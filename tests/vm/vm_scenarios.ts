/**
 * Every scenario of the virtual devices: cuts of power, and what of the lab is about upgrades and the end of a system.
 *
 * @module
 */
import type { LabFleet } from "../lab/lab_fleet.ts";
import type { NoteFigure, Scenario } from "../lab/scenario.ts";
import { INTERRUPTIONS } from "../lab/scenarios/interruptions.ts";
import { UPGRADES } from "../lab/scenarios/upgrades.ts";
import { describeCut, drawCuts } from "./cut_plan.ts";
import { cutFigures } from "./cut_figures.ts";
import { type CutResult, CutRounds } from "./cut_round.ts";
import { installCuts } from "./install_cuts.ts";
import { sayVm } from "./say.ts";
import { cutRequest } from "./vm_request.ts";

/*
 * The product's own bounds of the agent's start and stop; for the rest more than an emulated processor needs on a busy
 * machine, and looks that are rare enough for it.
 */
const BOUNDS = {
  startTimeoutSec: 240,
  stopTimeoutSec: 60,
  agentDropIn: "WatchdogSec=15min\n",
  updaterDropIn: "TimeoutStartSec=15min\n",
  agentBounds: {
    heartbeatIntervalMs: 10_000,
    natsReconnectMinMs: 50,
    natsReconnectMaxMs: 500,
    updaterPollActiveMs: 500,
    updaterPollIdleMs: 2_000,
    intentRecheckMs: 2_000,
  },
} as const;

/** Scenarios of the lab whose bounds fit an emulated processor. */
const FROM_LAB: ReadonlySet<string> = new Set(["good-upgrade", "reboot-in-each-phase", "poweroff-in-each-phase"]);

const rollback: Scenario = {
  name: "rollback",
  title: "a release that exits before READY is rolled back, and another one is installed",
  async run(lab) {
    const rounds = new CutRounds(lab);
    await rounds.undisturbed("bad");
    await rounds.undisturbed("good");
  },
};

async function cutPower(
  lab: LabFleet,
  note: NoteFigure,
  { form, share = 1 }: { readonly form: "script" | "compiled"; readonly share?: number },
): Promise<void> {
  const { cuts, seed } = cutRequest();
  const plan = drawCuts(seed, Math.ceil(cuts * share));
  sayVm(`${form}: ${plan.length} cuts, seed ${seed}`);
  const rounds = new CutRounds(lab, { form });
  await rounds.undisturbed("good");
  await rounds.undisturbed("bad");
  sayVm(`${form}: measured ${JSON.stringify(rounds.lengths)}`);
  const results: CutResult[] = [];
  for (const [index, cut] of plan.entries()) {
    const what = `${form}: cut ${index + 1} of ${plan.length} (seed ${seed}), ${describeCut(cut)}`;
    const result = await rounds.round(cut).catch((error) => {
      sayVm(`${what}: FAILED`);
      throw error;
    });
    results.push(result);
    const { found, end, bootToReadyMs } = result;
    sayVm(`${what}: found ${found.journal}, ${found.link}; ${end}; READY after ${Math.round(bootToReadyMs / 1_000)} s`);
    for (const [name, value] of Object.entries(cutFigures(results))) note(name, value);
  }
}

const powerCuts: Scenario = {
  name: "power-cuts",
  title: "power is cut at random moments of a transaction: the device boots, has its agent, and goes on",
  run: (lab, note) => cutPower(lab, note, { form: "script" }),
};

const compiledPowerCuts: Scenario = {
  name: "power-cuts-compiled",
  title: "the same with compiled programs, for a tenth of the cuts",
  options: { form: "compiled" },
  run: (lab, note) => cutPower(lab, note, { form: "compiled", share: 0.1 }),
};

const setupCuts: Scenario = {
  name: "setup-cuts",
  title: "power is cut during install.sh, for a twentieth of the cuts: the next run of it finishes",
  async run(lab, note) {
    const { cuts, seed } = cutRequest();
    await installCuts(lab, { cuts: Math.ceil(cuts / 20), seed }, note);
  },
};

function onMachines(scenario: Scenario): Scenario {
  return { ...scenario, options: { ...BOUNDS, ...scenario.options } };
}

/** Every scenario of the virtual devices. */
export const VM_SCENARIOS: readonly Scenario[] = [
  ...[...UPGRADES, ...INTERRUPTIONS].filter(({ name }) => FROM_LAB.has(name)),
  rollback,
  powerCuts,
  compiledPowerCuts,
  setupCuts,
].map(onMachines);
