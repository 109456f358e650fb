/**
 * Where the `nats-server` program is.
 *
 * @module
 */

const TOOLS_BINARY = new URL("../../.tools/bin/nats-server", import.meta.url).pathname;

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch {
    return false;
  }
}

/**
 * Finds the program: `HARMONY_NATS_SERVER`, then the one that `./dev` keeps, then `PATH`.
 *
 * @throws {Error} when there is none; the message says how to get one
 */
export async function findNatsServer(): Promise<string> {
  const configured = Deno.env.get("HARMONY_NATS_SERVER");
  if (configured !== undefined && configured !== "") return configured;
  const folders = (Deno.env.get("PATH") ?? "").split(":").filter((folder) => folder !== "");
  for (const candidate of [TOOLS_BINARY, ...folders.map((folder) => `${folder}/nats-server`)]) {
    if (await isFile(candidate)) return candidate;
  }
  throw new Error("Cannot find nats-server: run ./dev once, or set HARMONY_NATS_SERVER to a version 2.10 or newer");
}
