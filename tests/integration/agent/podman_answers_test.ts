/** Podman's adapter beside answers that no Podman should give, and a service that is not there, or hangs. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { PodmanEngine } from "../../../agent/podman/podman_engine.ts";
import type { ContainerSpec } from "../../../agent/podman/port.ts";
import { FleetError } from "../../../contracts/errors.ts";
import { PODMAN_ANSWER_MAX_BYTES } from "../../../contracts/limits.ts";

const SPEC: ContainerSpec = {
  name: "web.app",
  image: "localhost/app:1",
  labels: {},
  env: {},
  ports: [],
  volumes: [],
  restartPolicy: "no",
  stopTimeoutS: 1,
};

type Answer = (request: Request) => Response | Promise<Response>;

async function answered(
  answer: Answer,
  test: (engine: PodmanEngine) => Promise<void>,
  bounds: ConstructorParameters<typeof PodmanEngine>[1] = {},
): Promise<void> {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/podman.sock`;
  const server = Deno.serve({ path, onListen: () => {} }, answer);
  try {
    await test(new PodmanEngine(path, bounds));
  } finally {
    await server.shutdown();
    await Deno.remove(directory, { recursive: true });
  }
}

async function failure(work: () => Promise<unknown>): Promise<string> {
  const { code, failureClass, message, retry } = await assertRejects(work, FleetError);
  assertEquals(retry, "transient");
  return `${code} ${failureClass} ${message}`;
}

Deno.test("Podman's adapter: a socket that is not there, and one at which nobody listens", async () => {
  const directory = await Deno.makeTempDir();
  const path = `${directory}/podman.sock`;
  try {
    const engine = new PodmanEngine(path);
    assertEquals(
      await failure(() => engine.list({})),
      "E_ENGINE_UNREACHABLE environment Cannot list containers: there is no socket",
    );
    Deno.listen({ transport: "unix", path }).close();
    await Deno.writeTextFile(path, "");
    assertMatch(await failure(() => engine.version()), /^E_ENGINE_UNREACHABLE environment Cannot reach Podman: /);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("Podman's adapter: an answer that does not come in time", async () => {
  const release = Promise.withResolvers<void>();
  await answered(async () => {
    await release.promise;
    return new Response("[]");
  }, async (engine) => {
    assertMatch(
      await failure(() => engine.list({})),
      /^E_ENGINE_TIMEOUT environment Cannot list containers: not done within 300 ms/,
    );
    const reason = new Error("drain");
    assertEquals(await assertRejects(() => engine.list({}, AbortSignal.abort(reason)), Error), reason);
    release.resolve();
  }, { requestTimeoutMs: 300 });
});

Deno.test("Podman's adapter: answers that it does not understand", async () => {
  const bodies = ["", "{", "null", "{}", '[{"Id": 1}]', '[{"Id": "a", "Names": [], "State": "running"}]'];
  for (const body of bodies) {
    await answered(() => new Response(body), async (engine) => {
      assertMatch(await failure(() => engine.list({})), /^E_ENGINE_ANSWER internal Cannot /, body);
    });
  }
});

for (const extra of [-1, 0, 1]) {
  Deno.test(`Podman's adapter: an answer of the most bytes${extra === 0 ? "" : extra < 0 ? " less one" : " and one"}`, async () => {
    const body = `[${" ".repeat(PODMAN_ANSWER_MAX_BYTES - 2 + extra)}]`;
    await answered(() => new Response(body), async (engine) => {
      const patient = () => engine.list({}, AbortSignal.timeout(30_000));
      if (extra <= 0) assertEquals(await patient(), []);
      else assertMatch(await failure(patient), /^E_ENGINE_ANSWER internal .* more than \d+ bytes/);
    });
  });
}

Deno.test("Podman's adapter: refusals in the words of its versions", async () => {
  const refused = (status: number, message: string) =>
    Response.json({ cause: "x", message, response: status }, { status });
  const words: readonly [string, number, string][] = [
    [
      "E_ENGINE_NAME_TAKEN",
      500,
      'creating container storage: the container name "web.app" is already in use by c0ffee',
    ],
    ["E_ENGINE_NAME_TAKEN", 409, "name web.app already in use: container already exists"],
    ["E_ENGINE_NAME_TAKEN", 500, "renaming container c0ffee: UNIQUE constraint failed: ContainerConfig.Name"],
    ["E_ENGINE_NO_IMAGE", 500, "localhost/app:1: image not known"],
    ["E_ENGINE_NO_IMAGE", 404, "No such image: localhost/app:1"],
    ["E_ENGINE_NO_CONTAINER", 404, 'no container with name or ID "web.app" found: no such container'],
    ["E_ENGINE_REFUSED", 500, "rootlessport listen tcp 0.0.0.0:80: bind: address already in use"],
    ["E_ENGINE_REFUSED", 500, "crun: executable file `/bin/none` not found in $PATH: No such file or directory"],
  ];
  for (const [code, status, text] of words) {
    await answered(() => refused(status, text), async (engine) => {
      assertEquals(await failure(() => engine.create(SPEC)), `${code} policy Cannot create web.app: ${text}`);
    });
  }
  await answered(() => new Response("<html>", { status: 502 }), async (engine) => {
    assertEquals(await failure(() => engine.start("a")), "E_ENGINE_REFUSED policy Cannot start a: <html>");
  });
});

Deno.test("Podman's adapter: what comes of a pull stands at the end of its stream", async () => {
  const streams: readonly [string, RegExp | null][] = [
    ['{"stream":"Trying to pull"}\n{"images":["a"],"id":"a"}\n', null],
    ['{"images":["a"],"id":"a"}', null],
    [
      '{"stream":"Trying"}\n{"error":"manifest unknown"}\n',
      /E_ENGINE_PULL environment Cannot pull r\.io\/a:1: manifest unknown/,
    ],
    ['{"error":"first"}\n{"error":"last"}\n', /last/],
    ['{"stream":"Trying"}\n', /ended the answer without saying what came of it/],
    ["not JSON\n", /ended the answer/],
    ["", /ended the answer/],
  ];
  for (const [body, expected] of streams) {
    await answered(() => new Response(body), async (engine) => {
      const pull = () => engine.pull("r.io/a:1", AbortSignal.timeout(30_000));
      if (expected === null) await pull();
      else assertMatch(await failure(pull), expected, body);
    });
  }
  await answered(() => Response.json({ message: "invalid reference" }, { status: 400 }), async (engine) => {
    assertMatch(await failure(() => engine.pull("r.io/a:1", AbortSignal.timeout(30_000))), /invalid reference/);
  });
});

Deno.test("Podman's adapter: a pull that hangs ends at its time or with its signal, and leaves no connection", async () => {
  const opened: AbortSignal[] = [];
  await answered((request) => {
    opened.push(request.signal);
    const stream = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"stream":"x"}\n')),
    });
    return new Response(stream);
  }, async (engine) => {
    assertMatch(await failure(() => engine.pull("r.io/a:1", AbortSignal.timeout(30_000))), /^E_ENGINE_TIMEOUT/);
    const ending = new AbortController();
    const pulling = engine.pull("r.io/a:1", ending.signal);
    const reason = new Error("drain");
    ending.abort(reason);
    assertEquals(await assertRejects(() => pulling, Error), reason);
  }, { pullTimeoutMs: 1_000 });
  assertEquals(opened.length > 0, true);
});
