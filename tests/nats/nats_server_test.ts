import { assert, assertEquals, assertRejects } from "@std/assert";
import { startNatsServer } from "./nats_server.ts";

async function greeting(port: number): Promise<string> {
  const conn = await Deno.connect({ hostname: "127.0.0.1", port });
  try {
    const buffer = new Uint8Array(4_096);
    return new TextDecoder().decode(buffer.subarray(0, await conn.read(buffer) ?? 0));
  } finally {
    conn.close();
  }
}

Deno.test("startNatsServer() serves on a free port, and again on the same one after kill -9", async () => {
  const server = await startNatsServer();
  try {
    const { port, pid } = server;
    assert((await greeting(port)).startsWith("INFO "));
    await server.kill9();
    await assertRejects(() => greeting(port));
    await server.restart();
    assertEquals(server.port, port);
    assert(server.pid !== pid);
    assert((await greeting(port)).startsWith("INFO "));
    await server.pause();
    server.resume();
    await server.reload("max_payload: 2MB");
    assert((await greeting(port)).includes('"max_payload":2097152'));
  } finally {
    await server.stop();
  }
  await server.stop();
  await assertRejects(() => Deno.stat(server.directory), Deno.errors.NotFound);
});

Deno.test("startNatsServer() stops a frozen server", async () => {
  const server = await startNatsServer({ jetStream: false });
  await server.pause();
  await server.stop();
});

Deno.test("startNatsServer() says what is wrong with a configuration", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const error = await assertRejects(() => startNatsServer({ directory, config: "no_such_block { }" }));
    assert((error as Error).message.includes("no_such_block"), (error as Error).message);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
