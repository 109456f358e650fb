/**
 * The program of `service_program.ts` as a real process: `--config` names a JSON file with what to do. Each start adds
 * a line to `<config>.starts`.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { decodeBytes } from "../../contracts/codec.ts";
import { encodeNotification } from "../../lib/systemd/notification.ts";
import { openDatagram } from "../../lib/systemd/notify_address.ts";
import { type ServiceProgram, serviceProgram } from "./service_program.ts";

const STUBBORN = "trap '' TERM INT HUP; while :; do sleep 600; done";

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

async function run(program: ServiceProgram, notifySocket: string): Promise<void> {
  const socket = openDatagram();
  const say = (notification: Parameters<typeof encodeNotification>[0]) => {
    const mainPid = program.wrongMainPid === true ? Deno.ppid : Deno.pid;
    const bytes = encodeNotification({ mainPid, ...notification });
    return socket.send(bytes, { transport: "unixpacket", path: notifySocket });
  };
  if (program.ignoresTerm === true) Deno.addSignalListener("SIGTERM", () => {});
  for (const line of program.output ?? []) print(line);
  if (program.leavesChildren === true) {
    for (const detached of [false, true]) spawn("/bin/sh", ["-c", STUBBORN], { stdio: "inherit", detached });
  }
  if (program.statusText !== undefined) await say({ status: program.statusText });
  if (program.does.startsWith("ready")) await say({ ready: true });
  if (program.watchdogEveryMs !== undefined) {
    setInterval(() => {
      print("alive");
      // Nobody listens while there is no updater.
      say({ watchdog: true }).catch(() => {});
    }, program.watchdogEveryMs);
  }
  if (program.does.endsWith("exit")) Deno.exit(program.exitCode ?? 0);
  if (program.does === "signal") Deno.kill(Deno.pid, (program.signal ?? "SIGKILL") as Deno.Signal);
  await new Promise((resolve) => setTimeout(resolve, 600_000));
}

const config = Deno.args[Deno.args.indexOf("--config") + 1] ?? "";
Deno.writeTextFileSync(`${config}.starts`, `${Deno.pid}\n`, { append: true });
await run(decodeBytes(serviceProgram, Deno.readFileSync(config), 65_536), Deno.env.get("NOTIFY_SOCKET") ?? "");
