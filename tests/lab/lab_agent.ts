/**
 * Agents for the lab: the product's, with lines in front that slow one step down or break one, as a file on the device
 * says. So a scenario can stop at any phase without a switch in the product.
 *
 * @module
 */

/** Where a device says how its agents behave. */
export const BEHAVIOUR_FILE = "/etc/harmony-fleet/lab.json";

/** What agents do, by version. */
export interface LabBehaviour {
  /** Pause before a start does anything, in ms. */
  readonly startDelayMs?: number;
  /** Pause before the self-test does anything, in ms. */
  readonly probeDelayMs?: number;
  /** Time for which the event loop hangs after SIGTERM, in ms. */
  readonly stopDelayMs?: number;
  /** Exit code of a start. */
  readonly exitCode?: number;
  /** Time after READY at which the event loop hangs for ever, in ms. */
  readonly hangAfterMs?: number;
  /** Time after the start at which the agent exits with 1, in ms. */
  readonly crashAfterMs?: number;
  /** What the agent takes for the time, in ms since the epoch. */
  readonly nowMs?: number;
}

/** The lines in front of an agent of a version. */
export function labPrelude(version: string): string {
  return `{
  const serving = Deno.args.includes("--config") && !Deno.args.includes("--self-test");
  const probing = Deno.args.includes("--self-test");
  let all = {};
  try { all = JSON.parse(Deno.readTextFileSync("${BEHAVIOUR_FILE}")); } catch { /* it behaves */ }
  const own = all[${JSON.stringify(version)}] ?? {};
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const hang = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
  if (own.nowMs !== undefined) { const at = own.nowMs - performance.now(); Date.now = () => at + performance.now(); }
  if (probing && own.probeDelayMs) await sleep(own.probeDelayMs);
  if (serving) {
    if (own.stopDelayMs) Deno.addSignalListener("SIGTERM", () => hang(own.stopDelayMs));
    if (own.startDelayMs) await sleep(own.startDelayMs);
    if (own.exitCode !== undefined) { console.error("broken on purpose"); Deno.exit(own.exitCode); }
    if (own.crashAfterMs) setTimeout(() => Deno.exit(1), own.crashAfterMs);
    if (own.hangAfterMs) setTimeout(() => hang(600_000), own.hangAfterMs);
  }
}`;
}
