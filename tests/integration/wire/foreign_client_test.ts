/** Clients written from `docs/wire.md` alone speak with the real socket: the page's own Python and shell lines. */
import { assert, assertEquals } from "@std/assert";
import { canonicalDigest } from "../../../contracts/digest.ts";
import type { UpdaterResponse, UpdaterState } from "../../../contracts/updater_protocol.ts";
import { createLogger } from "../../../lib/log.ts";
import { refuse } from "../../../updater/core/admission.ts";
import { serveUpdaterSocket, type UpdaterHandlers } from "../../../updater/socket/server.ts";
import { newerAttempt, statusComplete } from "../../golden/upgrade_documents.ts";
import { WIRE_SAMPLES } from "../../golden/wire_samples.ts";

const page = await Deno.readTextFile(new URL("../../../docs/wire.md", import.meta.url));

/** The page's code blocks of a language that hold a text. */
function block(language: string, text: string): string {
  const blocks = [...page.matchAll(/```(\w+)\n([\s\S]*?)```/g)];
  const found = blocks.find(([, name, body]) => name === language && body?.includes(text))?.[2];
  assert(found !== undefined, `docs/wire.md has no ${language} with ${text}`);
  return found;
}

async function runs(command: string): Promise<boolean> {
  try {
    return (await new Deno.Command(command, { args: ["-V"], stdout: "null", stderr: "null" }).output()).success;
  } catch {
    return false;
  }
}

const python = await runs("python3");
const socat = await runs("socat");

interface Run {
  readonly code: number;
  readonly stdout: string;
}

async function run(command: string, args: string[], cwd: string): Promise<Run> {
  const { code, stdout, stderr } = await new Deno.Command(command, { args, cwd }).output();
  const text = new TextDecoder();
  assertEquals(text.decode(stderr), "");
  return { code, stdout: text.decode(stdout) };
}

const STATE: UpdaterState = {
  updaterVersion: "1.3.0",
  capabilities: ["https"],
  busy: false,
  quarantined: false,
  transaction: null,
};

/** A socket that says of each attempt what it was bound to. */
async function withUpdater(
  test: (world: { directory: string; path: string; digests: string[] }) => Promise<void>,
): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "fleet-wire-" });
  const path = `${directory}/updater.sock`;
  const stop = new AbortController();
  const digests: string[] = [];
  const handlers: UpdaterHandlers = {
    status: () => Promise.resolve(STATE),
    systemUpgrade: () => Promise.resolve({ ok: false, error: refuse("E_BUSY", "busy", "environment") }),
    upgrade: ({ attemptId, deviceId }, document): Promise<UpdaterResponse> => {
      if (deviceId !== "device-1") {
        return Promise.resolve({ ok: false, error: refuse("E_BUSY", "busy", "environment") });
      }
      const attemptDigest = canonicalDigest(document);
      digests.push(attemptDigest);
      const outcome = { attemptId, attemptDigest, phase: "complete" as const, at: statusComplete.updatedAt };
      return Promise.resolve({ ok: true, state: STATE, outcome });
    },
  };
  const log = createLogger({ sink: () => {}, format: "json" });
  const { finished } = serveUpdaterSocket({ path, mode: 0o600, handlers, log, signal: stop.signal });
  try {
    await Deno.writeTextFile(`${directory}/attempt.json`, JSON.stringify(newerAttempt, null, 1));
    await test({ directory, path, digests });
  } finally {
    stop.abort();
    await finished;
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test({ name: "the Python client of docs/wire.md asks, upgrades and is refused", ignore: !python }, async () => {
  await withUpdater(async ({ directory, path, digests }) => {
    await Deno.writeTextFile(`${directory}/client.py`, block("python", "def ask("));
    const client = (...args: string[]) => run("python3", ["client.py", path, ...args], directory);

    const status = await client();
    assertEquals([status.code, JSON.parse(status.stdout)], [0, { protocol: 1, ok: true, state: STATE }]);

    const upgrade = await client("attempt.json");
    assertEquals([upgrade.code, JSON.parse(upgrade.stdout).outcome.phase], [0, "complete"]);
    // Members that this version does not know are part of what was bound.
    assertEquals(digests, [canonicalDigest(newerAttempt)]);

    await Deno.writeTextFile(`${directory}/bad.json`, JSON.stringify({ ...newerAttempt, targetVersion: "../x" }));
    const refused = await client("bad.json");
    assertEquals([refused.code, JSON.parse(refused.stdout).error.field], [1, "attempt.targetVersion"]);

    await Deno.writeTextFile(`${directory}/other.json`, JSON.stringify({ ...newerAttempt, deviceId: "device-2" }));
    const busy = await client("other.json");
    assertEquals([busy.code, JSON.parse(busy.stdout).error.code], [75, "E_BUSY"]);

    // More than a message: the answer is read although the rest of the request was not.
    await Deno.writeTextFile(
      `${directory}/huge.json`,
      JSON.stringify({ ...newerAttempt, note: "x".repeat(3_000_000) }),
    );
    const huge = await client("huge.json");
    assertEquals([huge.code, JSON.parse(huge.stdout).error.code], [1, "E_REQUEST_TOO_LARGE"]);
  });
});

Deno.test({ name: "the Python digest of docs/wire.md is the canonical one", ignore: !python }, async () => {
  const script = `${block("python", "def digest(")}
import sys
for document in json.loads(sys.argv[1]): print(digest(document))`;
  const { stdout } = await run(
    "python3",
    ["-c", script, JSON.stringify(WIRE_SAMPLES.map(({ document }) => document))],
    Deno.cwd(),
  );
  assertEquals(stdout.trim().split("\n"), WIRE_SAMPLES.map(({ document }) => canonicalDigest(document)));
});

Deno.test({ name: "the socat lines of docs/wire.md ask and upgrade", ignore: !socat }, async () => {
  await withUpdater(async ({ directory, path, digests }) => {
    const lines = block("sh", "socat").replaceAll("/run/harmony-fleet/updater.sock", path);
    const { code, stdout } = await run("sh", ["-eu", "-c", lines], directory);
    const [status, upgrade] = stdout.trim().split("\n").map((line) => JSON.parse(line));
    assertEquals([code, status.state.updaterVersion, upgrade.outcome.phase], [0, "1.3.0", "complete"]);
    assertEquals(digests, [canonicalDigest(newerAttempt)]);
  });
});
