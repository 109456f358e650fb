/**
 * Finds the real servers that `./dev setup` has unpacked or found; a test without its server is skipped and says why.
 *
 * @module
 */
import { findProgram } from "../../../bench/find_program.ts";

/** The servers that tests of this folder may need. */
export type ServerName = "nginx" | "docker-registry";

/** The path of a server, or null. */
export function findServer(name: ServerName): string | null {
  return findProgram(name, `${Deno.env.get("PATH") ?? ""}:/usr/sbin`);
}

/**
 * Registers a test that needs a server.
 *
 * @param server The server
 * @param name What the test shows
 * @param fn The test; it gets the path of the server
 */
export function testWith(server: ServerName, name: string, fn: (program: string) => Promise<void>): void {
  const program = findServer(server);
  const absent = `${name} (skipped: no ${server} here, see ./dev setup)`;
  Deno.test({ name: program === null ? absent : name, ignore: program === null, fn: () => fn(program ?? "") });
}
