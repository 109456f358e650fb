import { assertEquals, assertInstanceOf, assertRejects, assertStringIncludes } from "@std/assert";
import { flag, integer, object, optional } from "../../../contracts/codec.ts";
import { errorText, FleetError } from "../../../contracts/errors.ts";
import { CONFIG_MAX_BYTES, CONFIG_PROBLEMS_MAX, SECRET_FILE_MAX_BYTES } from "../../../contracts/limits.ts";
import { ConfigError, readConfig } from "../../../lib/config/read_config.ts";
import { MODE_WORLD_ANY, MODE_WORLD_WRITABLE, readGuardedFile } from "../../../lib/config/read_guarded_file.ts";
import { requireSecrets } from "../../../lib/config/require_secrets.ts";

const decoder = object({ port: integer(1, 9), verbose: optional(flag) });

async function withFile(content: string, mode: number, use: (path: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    const path = `${directory}/config.json`;
    await Deno.writeTextFile(path, content);
    await Deno.chmod(path, mode);
    await use(path);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function configProblems(path: string): Promise<readonly string[]> {
  const error = await assertRejects(() => readConfig(path, decoder), ConfigError);
  assertEquals(error.code, "E_CONFIG");
  return error.problems;
}

Deno.test("readConfig() returns what the decoder makes of the file, also through a link", async () => {
  await withFile('{"port": 3}', 0o640, async (path) => {
    assertEquals(await readConfig(path, decoder), { port: 3 });
    await Deno.symlink(path, `${path}.link`);
    assertEquals(await readConfig(`${path}.link`, decoder), { port: 3 });
  });
});

Deno.test("readConfig() names every problem of the file at once", async () => {
  await withFile('{"port": 10, "verbose": "yes", "ports": 1}', 0o640, async (path) => {
    assertEquals(await configProblems(path), [
      "port: is 10, must be from 1 to 9",
      "verbose: must be true or false, not a string",
      "ports: is not known here, known are port, verbose",
    ]);
  });
});

Deno.test("readConfig() only tells unknown members to a program that can be rolled back", async () => {
  await withFile('{"port": 3, "ports": 1}', 0o640, async (path) => {
    const told: string[] = [];
    assertEquals(await readConfig(path, decoder, { onUnknown: (line) => told.push(line) }), { port: 3 });
    assertEquals(told, ["ports: is not known here, known are port, verbose"]);
  });
});

Deno.test("readConfig() names one problem for a file that is missing, no file, no JSON or writable for everybody", async () => {
  await withFile("{", 0o640, async (path) => {
    assertEquals(await configProblems(path), ["document: is not JSON"]);
    const missing = await assertRejects(() => readConfig(`${path}.missing`, decoder), ConfigError);
    assertEquals(
      errorText(missing),
      `Cannot use the configuration ${path}.missing: there is no such file or directory (ENOENT)`,
    );
    assertStringIncludes((await configProblems(path.slice(0, path.lastIndexOf("/")))).join(), "not a regular file");
    await Deno.chmod(path, 0o646);
    assertStringIncludes((await configProblems(path)).join(), "its mode is 0646, must be 0644 or stricter");
  });
});

async function classOf(work: () => Promise<unknown>): Promise<string> {
  const { failureClass, problems } = await assertRejects(work, ConfigError);
  return `${failureClass}: ${problems.length}`;
}

/** Root may read whatever the mode says. */
const isRoot = Deno.uid() === 0;

Deno.test("a configuration that cannot be read is the site's fault, one that cannot be decoded the program's", async () => {
  await withFile('{"port": 10}', 0o640, async (path) => {
    assertEquals(await classOf(() => readConfig(path, decoder)), "version: 1");
    assertEquals(await classOf(() => readConfig(`${path}.missing`, decoder)), "environment: 1");
    assertEquals(await classOf(() => readConfig(`${path}/below`, decoder)), "environment: 1");
    assertEquals(await classOf(() => readConfig(path.slice(0, path.lastIndexOf("/")), decoder)), "environment: 1");
    await Deno.chmod(path, 0o646);
    assertEquals(await classOf(() => readConfig(path, decoder)), "environment: 1");
    await Deno.chmod(path, 0o000);
    assertEquals(await classOf(() => readConfig(path, decoder)), isRoot ? "version: 1" : "environment: 1");
  });
  await withFile("{", 0o640, async (path) => {
    assertEquals(await classOf(() => readConfig(path, decoder)), "version: 1");
  });
  await withFile("".padEnd(CONFIG_MAX_BYTES + 1), 0o640, async (path) => {
    assertEquals(await classOf(() => readConfig(path, decoder)), "version: 1");
  });
});

Deno.test("requireSecrets() tells a secret that cannot be read as the site's fault, one that is too large as the program's", async () => {
  await withFile("secret", 0o640, async (path) => {
    const secret = { field: "nats.passwordFile", path };
    const missing = { field: "nats.tokenFile", path: `${path}.missing` };
    await requireSecrets("agent.json", [secret]);
    assertEquals(await classOf(() => requireSecrets("agent.json", [secret, missing])), "environment: 1");
    await Deno.chmod(path, 0o644);
    assertEquals(await classOf(() => requireSecrets("agent.json", [secret, missing])), "environment: 2");
    await Deno.chmod(path, 0o640);
    await Deno.writeTextFile(path, " \n");
    assertEquals(await classOf(() => requireSecrets("agent.json", [secret])), "environment: 1");
    await Deno.writeTextFile(path, "x".repeat(SECRET_FILE_MAX_BYTES + 1));
    assertEquals(await classOf(() => requireSecrets("agent.json", [secret, missing])), "version: 2");
  });
});

for (const extra of [-1, 0, 1]) {
  Deno.test(`readConfig() at ${CONFIG_MAX_BYTES + extra} bytes`, async () => {
    const content = '{"port": 3}'.padEnd(CONFIG_MAX_BYTES + extra, " ");
    await withFile(content, 0o640, async (path) => {
      if (extra <= 0) assertEquals(await readConfig(path, decoder), { port: 3 });
      else assertStringIncludes((await configProblems(path)).join(), `more than ${CONFIG_MAX_BYTES} bytes`);
    });
  });

  Deno.test(`readConfig() with ${CONFIG_PROBLEMS_MAX + extra} problems`, async () => {
    const names = Array.from({ length: CONFIG_PROBLEMS_MAX + extra }, (_, index) => `x${index}`);
    const content = JSON.stringify({ port: 3, ...Object.fromEntries(names.map((name) => [name, 1])) });
    await withFile(content, 0o640, async (path) => {
      const problems = await configProblems(path);
      assertEquals(problems.length, CONFIG_PROBLEMS_MAX + extra);
      assertEquals(problems.at(-1) === "and 1 more", extra > 0);
    });
  });
}

Deno.test("readGuardedFile() refuses every forbidden permission bit and takes the others", async () => {
  const options = { what: "the secret", maxBytes: 9, forbiddenMode: MODE_WORLD_ANY };
  await withFile("s", 0o640, async (path) => {
    assertEquals(await readGuardedFile(path, options), new TextEncoder().encode("s"));
    for (const bit of [0o001, 0o002, 0o004]) {
      await Deno.chmod(path, 0o640 | bit);
      const error = await assertRejects(() => readGuardedFile(path, options), FleetError, "or stricter");
      assertEquals(error.code, "E_FILE_MODE");
    }
    const lenient = { ...options, forbiddenMode: MODE_WORLD_WRITABLE };
    assertEquals((await readGuardedFile(path, lenient)).length, 1);
  });
});

Deno.test("readGuardedFile() does not wait for the writer of a named pipe", async () => {
  await withFile("", 0o600, async (path) => {
    const made = await new Deno.Command("mkfifo", { args: [`${path}.pipe`] }).output();
    assertEquals(made.code, 0);
    const read = readGuardedFile(`${path}.pipe`, { what: "the secret", maxBytes: 9, forbiddenMode: 0 });
    const error = await assertRejects(() => read, FleetError);
    assertInstanceOf(error, FleetError);
    assertEquals(error.code, "E_FILE_KIND");
  });
});
