/**
 * Every scenario of the lab.
 *
 * @module
 */
import type { Scenario } from "../scenario.ts";
import { AGES } from "./ages.ts";
import { CANDIDATES } from "./candidates.ts";
import { FAULTS } from "./faults.ts";
import { FIGURES } from "./figures.ts";
import { FORMS } from "./forms.ts";
import { INSTALLATION } from "./installation.ts";
import { INTERRUPTIONS } from "./interruptions.ts";
import { PODMAN } from "./podman.ts";
import { PODMAN_ENGINE } from "./podman_engine.ts";
import { SYSTEM_UPGRADES } from "./system_upgrades.ts";
import { TASK_RUNS } from "./task_runs.ts";
import { UPGRADES } from "./upgrades.ts";
import { WORKLOADS } from "./workloads.ts";

/** Every scenario of the lab. */
export const SCENARIOS: readonly Scenario[] = [
  ...UPGRADES,
  ...CANDIDATES,
  ...FORMS,
  ...AGES,
  ...INSTALLATION,
  ...INTERRUPTIONS,
  ...FAULTS,
  ...PODMAN,
  ...PODMAN_ENGINE,
  ...WORKLOADS,
  ...SYSTEM_UPGRADES,
  ...TASK_RUNS,
  ...FIGURES,
];
