/**
 * A program that is started once, answers one line for each line, and ends when its standard input does.
 *
 * @module
 */

/** A running program. */
export interface LineServer {
  /** The next line that it writes. @throws {Error} when it ends instead */
  readLine(): Promise<string>;
  /** Sends a line. */
  writeLine(line: string): Promise<void>;
}

/**
 * Starts a program. Its standard input is closed when this process ends, which ends it too.
 *
 * @param program Name or path
 * @param args Its arguments
 */
export function startLineServer(program: string, args: readonly string[]): LineServer {
  const child = new Deno.Command(program, {
    args: [...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
    // The end of a benchmark file kills every other child, before it can stop what it has started itself.
    detached: true,
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const writer = child.stdin.getWriter();
  const encoder = new TextEncoder();
  let rest = "";
  return {
    async readLine() {
      for (;;) {
        const end = rest.indexOf("\n");
        if (end >= 0) {
          const line = rest.slice(0, end);
          rest = rest.slice(end + 1);
          return line;
        }
        const { value } = await reader.read();
        if (value === undefined) throw new Error(`Cannot read from ${program}: it has ended`);
        rest += value;
      }
    },
    writeLine: (line) => writer.write(encoder.encode(`${line}\n`)),
  };
}
