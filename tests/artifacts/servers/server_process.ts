/**
 * A real server as a process that listens on a Unix socket, behind a proxy on a free port.
 *
 * @module
 */
import { type Child, startChild } from "../../fleet/child_process.ts";
import { waitUntil } from "../../nats/wait_until.ts";
import { type FaultProxy, startFaultProxy } from "./fault_proxy.ts";

/** A running server. */
export interface ServerProcess extends AsyncDisposable {
  readonly proxy: FaultProxy;
  /** `localhost:port`, as it stands in URLs. */
  readonly host: string;
  /** What it has written. */
  log(): Promise<string>;
}

/**
 * Starts a server and waits until it accepts connections.
 *
 * @param directory Where its output goes
 * @param command How it is started
 * @param socketPath Where it listens
 */
export async function startServerProcess(
  directory: string,
  command: readonly string[],
  socketPath: string,
): Promise<ServerProcess> {
  const logFile = `${directory}/output.log`;
  const child: Child = startChild({ command, logFile });
  const log = () => Deno.readTextFile(logFile).catch(() => "");
  try {
    await waitUntil(`${command[0]} to listen`, async () => {
      if (child.hasEnded) throw new Error(`${command[0]} has ended: ${await log()}`);
      try {
        (await Deno.connect({ transport: "unix", path: socketPath })).close();
        return true;
      } catch {
        return false;
      }
    }, 30_000);
  } catch (error) {
    await child.stop();
    throw error;
  }
  const proxy = startFaultProxy({ transport: "unix", path: socketPath });
  return {
    proxy,
    host: `localhost:${proxy.port}`,
    log,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await child.stop();
    },
  };
}
