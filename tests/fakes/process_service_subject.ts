/**
 * The process adapter in a directory of its own, with the program of `service_program.ts` behind the agent's link.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { type ManagedPaths, managedPaths } from "../../contracts/managed_paths.ts";
import type { Clock } from "../../lib/deadline.ts";
import type { FileSystem } from "../../lib/durable/file_system.ts";
import { osFileSystem } from "../../lib/durable/os_file_system.ts";
import { createLogger } from "../../lib/log.ts";
import type { AgentUser } from "../../updater/process/agent_command.ts";
import { sendSignal } from "../../updater/process/process_group.ts";
import { markedProcesses } from "../../updater/process/process_table.ts";
import {
  openProcessService,
  type ProcessService,
  type ProcessServiceBounds,
} from "../../updater/services/process_service.ts";
import type { ServiceSubject } from "../conformance/service_manager.ts";
import type { ServiceProgram } from "./service_program.ts";

const PROGRAM = fileURLToPath(new URL("./service_program_main.ts", import.meta.url));

/** A root directory with a program behind the agent's link. */
export interface ProcessRoot extends AsyncDisposable {
  readonly root: string;
  readonly paths: ManagedPaths;
  /** What the program does from its next start on. */
  use(program: ServiceProgram): Promise<void>;
  /** Pids of all starts so far, oldest first. */
  startedPids(): Promise<number[]>;
  /** Pids of living processes that belong to the service. */
  livingPids(): number[];
}

/** Variables that the program needs to be found in deno's cache. */
export function programEnvironment(): Record<string, string> {
  const names = ["DENO_DIR", "HOME"];
  return Object.fromEntries(names.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
}

/** The lines of a shell script that becomes the program. */
export function programScript(): string {
  const flags = "--quiet --no-config --no-lock --cached-only --allow-all --unstable-net";
  return `#!/bin/sh\nexec '${Deno.execPath()}' run ${flags} '${PROGRAM}' "$@"\n`;
}

/** Makes a root. What still runs is killed when it is disposed of. */
export async function createProcessRoot(): Promise<ProcessRoot> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "fleet-process-" }));
  const paths = managedPaths(root);
  for (const path of [paths.agentLink, paths.agentConfig]) {
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  }
  for (const path of [paths.binariesDirectory, paths.stateDirectory, paths.runDirectory]) {
    await Deno.mkdir(path, { recursive: true });
  }
  const binary = `${paths.binariesDirectory}/fleet-agent-v1.0.0`;
  await Deno.writeTextFile(binary, programScript(), { mode: 0o755 });
  await Deno.symlink(binary, paths.agentLink);
  const livingPids = () => markedProcesses("NOTIFY_SOCKET", paths.notifySocket).map(({ pid }) => pid);
  return {
    root,
    paths,
    use: (program) => Deno.writeTextFile(paths.agentConfig, JSON.stringify(program)),
    startedPids: async () => {
      try {
        const text = await Deno.readTextFile(`${paths.agentConfig}.starts`);
        return text.split("\n").filter((line) => line !== "").map(Number);
      } catch {
        return [];
      }
    },
    livingPids,
    [Symbol.asyncDispose]: async () => {
      for (const pid of livingPids()) sendSignal(pid, "SIGKILL");
      await Deno.remove(root, { recursive: true });
    },
  };
}

/** What a service in a root is opened with. */
export interface OpenServiceOptions {
  readonly bounds?: ProcessServiceBounds;
  readonly fs?: FileSystem;
  readonly environment?: Readonly<Record<string, string>>;
  readonly user?: AgentUser;
  readonly clock?: Clock;
  readonly logged?: string[];
}

/** Opens the process adapter on a root. */
export function openService({ paths }: ProcessRoot, options: OpenServiceOptions = {}): Promise<ProcessService> {
  const { bounds, fs = osFileSystem, environment = {}, user, clock, logged = [] } = options;
  return openProcessService({
    paths,
    fs,
    log: createLogger({ sink: (line) => logged.push(line), format: "json", level: "debug" }),
    environment: { ...programEnvironment(), ...environment },
    ...(bounds === undefined ? {} : { bounds }),
    ...(user === undefined ? {} : { user }),
    ...(clock === undefined ? {} : { clock }),
  });
}

/** Lines that a program with `watchdogEveryMs` has printed since its start. */
export async function aliveLines({ paths }: ProcessRoot): Promise<number> {
  return (await Deno.readTextFile(paths.agentOutput).catch(() => "")).split("alive").length - 1;
}

/** Whether a service is active. */
export async function isActive(service: ProcessService): Promise<boolean> {
  return (await service.show()).active === "active";
}

/** The subject of the conformance suite. */
export async function createProcessSubject(bounds: ProcessServiceBounds): Promise<ServiceSubject> {
  const root = await createProcessRoot();
  const manager = await openService(root, { bounds });
  return {
    manager,
    use: root.use,
    crash: async () => {
      sendSignal((await manager.show()).mainPid ?? 0, "SIGKILL");
    },
    starts: async () => (await root.startedPids()).length,
    living: () => Promise.resolve(root.livingPids().length),
    [Symbol.asyncDispose]: async () => {
      await manager.stop();
      await manager.close();
      await root[Symbol.asyncDispose]();
    },
  };
}
