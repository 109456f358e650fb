import { assertEquals } from "@std/assert";
import { bridgeSocket, readRun, runScript, sendFiles, shellQuote, wrapCommand } from "./vm_wires.ts";

const encoder = new TextEncoder();

async function readText(connection: Deno.Conn): Promise<string> {
  const buffer = new Uint8Array(1024);
  let text = "";
  for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
    text += new TextDecoder().decode(buffer.subarray(0, count));
  }
  return text;
}

Deno.test("readRun() reads code, output and error output, and refuses what is not whole", () => {
  const whole = encoder.encode("3 4 5\nout\nerror");
  assertEquals(readRun(whole), { code: 3, stdout: "out\n", stderr: "error" });
  for (const length of [0, 3, 6, whole.length - 1]) assertEquals(readRun(whole.subarray(0, length)), null, `${length}`);
});

Deno.test("wrapCommand() makes a shell run a command with its input and say how it ended", async () => {
  const input = "a 'quoted' line\n".repeat(100);
  const script = wrapCommand(`sh -c ${shellQuote("cat; echo it\\'s bad >&2; exit 7")}`, input)
    .replaceAll("/run/vm.XXXXXX", "/tmp/vm.XXXXXX");
  const child = new Deno.Command("sh", { stdin: "piped", stdout: "piped" }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(encoder.encode(script));
  await writer.close();
  assertEquals(readRun((await child.output()).stdout), { code: 7, stdout: input, stderr: "it's bad\n" });
});

Deno.test("runScript() gives null when nobody answers, when the time is over and when the machine ends", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted: Deno.Conn[] = [];
  const accepting = (async () => {
    for await (const connection of listener) accepted.push(connection);
  })().catch(() => {});
  const { port } = listener.addr;
  const never = new Promise(() => {});
  assertEquals(await runScript(port, "true", { stdin: "", timeoutMs: 50, ended: never }), null);
  assertEquals(await runScript(port, "true", { stdin: "", timeoutMs: 60_000, ended: Promise.resolve() }), null);
  listener.close();
  await accepting;
  for (const connection of accepted) connection.close();
  assertEquals(await runScript(port, "true", { stdin: "", timeoutMs: 60_000, ended: never }), null);
});

Deno.test("sendFiles() sends what is new, under the name that it is given", async () => {
  const directory = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${directory}/here/deep`, { recursive: true });
    await Deno.writeTextFile(`${directory}/here/deep/one`, "1");
    const sent = new Map<string, number>();
    const receive = async (): Promise<string> => {
      const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const sending = sendFiles(listener.addr.port, "there", `${directory}/here`, sent);
      using connection = await listener.accept();
      listener.close();
      const archive = new Uint8Array(await new Response(connection.readable).arrayBuffer());
      await sending;
      const child = new Deno.Command("tar", { args: ["-t"], stdin: "piped", stdout: "piped" }).spawn();
      const writer = child.stdin.getWriter();
      await writer.write(archive).then(() => writer.close());
      return new TextDecoder().decode((await child.output()).stdout);
    };
    assertEquals(await receive(), "there/deep/one\n");
    // Nothing is new: nothing is sent.
    await sendFiles(1, "there", `${directory}/here`, sent);
    await Deno.writeTextFile(`${directory}/here/two`, "2");
    assertEquals(await receive(), "there/two\n");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("bridgeSocket() carries both directions and the end of each", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    using _bridge = bridgeSocket(`${directory}/s`, () => listener.addr.port);
    const near = await Deno.connect({ transport: "unix", path: `${directory}/s` });
    const far = await listener.accept();
    listener.close();
    await near.write(encoder.encode("question"));
    await near.closeWrite();
    assertEquals(await readText(far), "question");
    // The answer comes after the end of the question.
    await far.write(encoder.encode("answer"));
    far.close();
    assertEquals(await readText(near), "answer");
    near.close();
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
