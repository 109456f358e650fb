/**
 * What goes between this machine and a virtual one: commands, files, and the updater's socket, each over a forwarded port
 * of the loopback interface.
 *
 * @module
 */
import type { DeviceRun } from "../lab/device.ts";

/** A port of the loopback interface that is free now. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** A word as a shell reads it back. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Bounds of a command. */
export interface RunBounds {
  readonly stdin: string;
  /** For everything together, in ms. */
  readonly timeoutMs: number;
  /** Resolves when the machine is off. */
  readonly ended: Promise<unknown>;
}

/**
 * The script that runs a command line: it prints code and sizes in one line, then output and error output.
 *
 * @param line The command line
 * @param stdin What the command reads
 */
export function wrapCommand(line: string, stdin: string): string {
  const input = stdin === "" ? "" : `base64 -d >"$d/in" <<'END'\n${base64Lines(stdin)}\nEND\n`;
  return `export LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
d=$(mktemp -d /run/vm.XXXXXX); : >"$d/in"
${input}${line} <"$d/in" >"$d/out" 2>"$d/err"; c=$?
echo $c $(stat -c %s "$d/out" "$d/err"); cat "$d/out" "$d/err"; rm -r "$d"; exit
`;
}

function base64Lines(text: string): string {
  return new TextEncoder().encode(text).toBase64().replaceAll(/.{76}/g, "$&\n");
}

/**
 * Reads what {@link wrapCommand} made a shell print; null when it is not whole.
 *
 * @param bytes The output
 */
export function readRun(bytes: Uint8Array): DeviceRun | null {
  const end = bytes.indexOf(0x0a);
  const head = /^([0-9]+) ([0-9]+) ([0-9]+)$/.exec(new TextDecoder().decode(bytes.subarray(0, Math.max(end, 0))));
  if (head === null) return null;
  const [code, outBytes, errBytes] = head.slice(1).map(Number) as [number, number, number];
  const body = bytes.subarray(end + 1);
  if (body.length !== outBytes + errBytes) return null;
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(body.subarray(0, outBytes)), stderr: decoder.decode(body.subarray(outBytes)) };
}

/**
 * Runs a command line; null when the machine cannot be reached, or ends before the command does.
 *
 * @param port Of its shell
 * @param line The command line
 * @param bounds Input, time
 */
export async function runScript(port: number, line: string, bounds: RunBounds): Promise<DeviceRun | null> {
  let connection: Deno.TcpConn;
  try {
    connection = await Deno.connect({ hostname: "127.0.0.1", port });
  } catch {
    return null;
  }
  const close = () => {
    try {
      connection.close();
    } catch {
      // Closed before.
    }
  };
  const timer = setTimeout(close, bounds.timeoutMs);
  bounds.ended.then(close, close);
  try {
    const writer = connection.writable.getWriter();
    await writer.write(new TextEncoder().encode(wrapCommand(line, bounds.stdin)));
    writer.releaseLock();
    return readRun(await readAll(connection));
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
    close();
  }
}

async function readAll(connection: Deno.Conn): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  const buffer = new Uint8Array(64 * 1024);
  for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
    chunks.push(buffer.slice(0, count));
  }
  return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

/**
 * Sends a file, or what is new in a folder.
 *
 * @param port Where a tar archive is unpacked
 * @param name Of the file or folder, where it is unpacked
 * @param path Of it here
 * @param sent What has been sent, which it adds to: path to time of change in ms
 */
export async function sendFiles(port: number, name: string, path: string, sent: Map<string, number>): Promise<void> {
  const info = await Deno.stat(path);
  const files = info.isDirectory ? await filesBelow(path) : [path];
  const fresh: string[] = [];
  for (const file of files) {
    const changed = (await Deno.stat(file)).mtime?.getTime() ?? 0;
    if (sent.get(file) === changed) continue;
    sent.set(file, changed);
    fresh.push(file);
  }
  if (fresh.length === 0) return;
  const folder = path.slice(0, path.lastIndexOf("/"));
  const base = path.slice(folder.length + 1);
  const child = new Deno.Command("tar", {
    args: [
      ...["-C", folder, "--transform", `s,^${base},${name},`, "--owner=0", "--group=0", "-c", "--"],
      ...fresh.map((file) => file.slice(folder.length + 1)),
    ],
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  try {
    await child.stdout.pipeTo(connection.writable, { preventClose: true });
    await connection.closeWrite();
    // The end comes when everything is unpacked.
    await readAll(connection);
  } finally {
    connection.close();
  }
  if (!(await child.status).success) throw new Error(`Cannot send ${path} to the machine`);
}

async function filesBelow(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    found.push(...isDirectory ? await filesBelow(path) : [path]);
  }
  return found;
}

/**
 * A Unix socket here that leads to a port.
 *
 * @param path Of the socket
 * @param port Asked at every connection
 */
export function bridgeSocket(path: string, port: () => number): Disposable {
  const listener = Deno.listen({ transport: "unix", path });
  void (async () => {
    for await (const near of listener) void carry(near, port());
  })().catch(() => {});
  return { [Symbol.dispose]: () => listener.close() };
}

async function carry(near: Deno.Conn, port: number): Promise<void> {
  using _near = near;
  try {
    using far = await Deno.connect({ hostname: "127.0.0.1", port });
    // By hand: the runtime closes a connection whose readable stream has come to its end, in both directions.
    const forth = copy(near, far);
    forth.catch(() => {});
    await copy(far, near);
  } catch {
    // One of the two went away: so does the other.
  }
}

/** Copies to the end of one side, and ends the other one's. */
async function copy(from: Deno.Conn, to: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(64 * 1024);
  for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
    for (let sent = 0; sent < count;) sent += await to.write(buffer.subarray(sent, count));
  }
  await to.closeWrite();
}
