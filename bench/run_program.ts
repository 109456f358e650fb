/**
 * Runs a program that must succeed.
 *
 * @module
 */

/**
 * Runs a program and gives what it wrote to its standard output.
 *
 * @param program Name or path
 * @param args Its arguments
 * @throws {Error} when it fails, with what it said
 */
export async function runProgram(program: string, args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args: [...args], stdin: "null" }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`Cannot run ${program}: ${decoder.decode(stderr).trim().slice(-500)}`);
  return decoder.decode(stdout);
}
