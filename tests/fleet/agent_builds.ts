/**
 * Agents of many versions, good and bad, from the product's own sources. A bad one is the real agent with a few lines in
 * front of it: the product itself has no switch that breaks it.
 *
 * @module
 */
import { buildScript, type BuiltScript } from "../../build/script_form.ts";

/** What is wrong with a bad agent. */
export const AGENT_DEFECTS = ["never-ready", "exits-0", "exits-1", "exits-75", "self-test-fails"] as const;
/** One of {@link AGENT_DEFECTS}. */
export type AgentDefect = (typeof AGENT_DEFECTS)[number];

/** Lines that run before the agent's own; they leave `--self-test` and `--version` alone unless they are about them. */
const PRELUDES: { readonly [D in AgentDefect]: (version: string) => string } = {
  "never-ready": () => whenServing("await new Promise(() => setInterval(() => {}, 1000));"),
  "exits-0": () => whenServing("Deno.exit(0);"),
  "exits-1": () => whenServing('console.error("broken on purpose: exits with 1"); Deno.exit(1);'),
  "exits-75": () => whenServing("Deno.exit(75);"),
  "self-test-fails": (version) =>
    'if (Deno.args.includes("--self-test")) { console.log(JSON.stringify(' +
    `{ schema: 1, version: "${version}", arch: Deno.build.arch, passed: false, checks: [{ name: "config", ` +
    'result: "failed", reason: "broken on purpose", failureClass: "version", durationMs: 1 }] })); Deno.exit(1); }',
};

function whenServing(code: string): string {
  return `if (!Deno.args.includes("--self-test") && !Deno.args.includes("--version")) { ${code} }`;
}

/**
 * The lines in front of a bad agent.
 *
 * @param defect What is wrong with it
 * @param version Its version
 */
export function defectPrelude(defect: AgentDefect, version: string): string {
  return PRELUDES[defect](version);
}

/** What to build. */
export interface AgentBuild {
  readonly version: string;
  readonly defect?: AgentDefect;
  /** JavaScript in front of the agent, for defects of one test. */
  readonly prelude?: string;
  /** Where the device has its deno. Default this one */
  readonly denoPath?: string;
}

/**
 * Builds an agent in the script form.
 *
 * @param directory Where it goes
 * @param build Version and defect
 */
export function buildAgent(
  directory: string,
  { version, defect, prelude, denoPath }: AgentBuild,
): Promise<BuiltScript> {
  const lines = [defect === undefined ? "" : defectPrelude(defect, version), prelude ?? ""].filter((code) =>
    code !== ""
  )
    .join("\n");
  return buildScript({
    program: "fleet-agent",
    version,
    outPath: `${directory}/fleet-agent-v${version}${defect === undefined ? "" : `-${defect}`}`,
    ...(lines === "" ? {} : { prelude: lines }),
    ...(denoPath === undefined ? {} : { denoPath }),
  });
}
