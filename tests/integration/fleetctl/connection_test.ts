import { assert, assertEquals } from "@std/assert";
import { startNatsServer } from "../../nats/nats_server.ts";
import { tlsConfig } from "../../nats/server_config.ts";
import { createTestAuthority } from "../../tls/test_authority.ts";
import { fleetctlArgs, fleetctlTest, FleetctlWorld } from "./fleetctl_world.ts";

fleetctlTest("connects by variables, by options and by a file", async (world) => {
  const { connection, directory } = world;
  const none = { FLEETCTL_SERVERS: "", FLEETCTL_USER: "", FLEETCTL_PASSWORD_FILE: "" };
  const byVariables = await world.run(["get", "devices", "-o", "json"]);
  assertEquals([byVariables.code, byVariables.err], [0, ""]);
  assertEquals(JSON.parse(byVariables.out).items, []);
  const login = ["--user", "ops", "--password-file", `${directory}/password`];
  const byOptions = await world.run(["--server", world.server.url, ...login, "get", "devices", "-o", "name"], {
    env: none,
  });
  assertEquals([byOptions.code, byOptions.err], [0, ""]);
  // The password file is named relative to the configuration.
  const config = await world.file(
    "fleetctl.json",
    JSON.stringify({
      servers: [connection.FLEETCTL_SERVERS],
      user: "ops",
      passwordFile: "password",
    }),
  );
  for (
    const options of [{ args: ["--config", config], env: none }, {
      args: [],
      env: { ...none, FLEETCTL_CONFIG: config },
    }]
  ) {
    const byFile = await world.run([...options.args, "get", "devices", "-o", "name"], { env: options.env });
    assertEquals([byFile.code, byFile.err], [0, ""]);
  }
  const wrong = await world.file("wrong.json", '{"servers": [], "pasword": 1}');
  const refused = await world.run(["--config", wrong, "get", "devices"], { env: none });
  assertEquals(refused.code, 2);
  assert(refused.err.includes("servers: has 0 items, at least 1"), refused.err);
  assert(refused.err.includes("pasword: is not known here"), refused.err);
});

fleetctlTest("says who was refused, and never the password", async (world) => {
  const wrong = await world.file("wrong-password", "not-the-password\n");
  const cases: readonly (readonly [Record<string, string>, string])[] = [
    [{ FLEETCTL_PASSWORD_FILE: wrong }, `logged in as ops with the password of ${wrong}`],
    [{ FLEETCTL_USER: "", FLEETCTL_PASSWORD_FILE: "" }, "logged in without a user"],
    [
      { FLEETCTL_USER: "", FLEETCTL_PASSWORD_FILE: "", FLEETCTL_TOKEN_FILE: wrong },
      `logged in with the token of ${wrong}`,
    ],
  ];
  for (const [env, expected] of cases) {
    const { code, out, err } = await world.run(["get", "devices"], { env });
    assertEquals([code, out], [6, ""], err);
    assert(err.startsWith("fleetctl: Cannot log in to NATS: "), err);
    assert(err.includes(expected), err);
    assert(!err.includes("not-the-password"), err);
  }
  const missing = await world.run(["get", "devices"], { env: { FLEETCTL_PASSWORD_FILE: "/nowhere/password" } });
  assertEquals(missing.code, 2);
  assert(missing.err.startsWith("fleetctl: Cannot read /nowhere/password: No such file"), missing.err);
  const inUrl = await world.run(["--server", "nats://ops:s3cret@127.0.0.1", "get", "devices"]);
  assertEquals(inUrl.code, 2);
  assert(inUrl.err.includes("--password-file") && !inUrl.err.includes("s3cret"), inUrl.err);
});

Deno.test("fleetctl: says what to do when nobody answers, soon", async () => {
  const world = await FleetctlWorld.open({ buckets: false });
  try {
    const { url } = world.server;
    await world.bus.close();
    await world.server.kill9();
    const { code, out, err, durationMs } = await world.run(["get", "devices"]);
    assertEquals([code, out], [5, ""]);
    assert(err.startsWith("fleetctl: Cannot connect to NATS at "), err);
    assert(err.includes(`tried ${url} (from FLEETCTL_SERVERS), at most 15 s`), err);
    assert(err.includes("is nats-server running there"), err);
    assert(durationMs < 10_000, `${durationMs} ms`);
  } finally {
    await world.close();
  }
});

fleetctlTest("says that the operator has never run where there are no buckets", async (world) => {
  const { code, out, err } = await world.run(["get", "devices"]);
  assertEquals([code, out], [5, ""]);
  assert(err.includes("buckets are made by fleet-operator"), err);
}, { buckets: false });

fleetctlTest("shows that it waits for a server that does not answer, and gives up in time", async (world) => {
  await world.server.pause();
  try {
    const { code, out, err, durationMs } = await world.run(["--timeout", "4", "get", "devices"]);
    assertEquals([code, out], [5, ""]);
    assert(err.includes(`fleetctl: connecting to ${world.server.url} (`), err);
    assert(err.includes("no answer within 4000 ms"), err);
    assert(durationMs < 12_000, `${durationMs} ms`);
  } finally {
    world.server.resume();
  }
});

fleetctlTest("ends at once when it is interrupted", async (world) => {
  await world.server.pause();
  try {
    const child = world.spawn(["get", "devices"]);
    await child.stdin.close();
    const errors = child.stderr.getReader();
    // Progress comes after 2 s: then the signal handlers are there, and the program waits.
    await errors.read();
    errors.releaseLock();
    child.kill("SIGINT");
    const [{ code }, out] = await Promise.all([child.status, new Response(child.stdout).text(), child.stderr.cancel()]);
    assertEquals([code, out], [130, ""]);
  } finally {
    world.server.resume();
  }
});

fleetctlTest("trusts an authority of its own when it is named, and says how when it is not", async (world) => {
  const authority = await createTestAuthority();
  const { cert, key } = await authority.issue();
  const [certFile, keyFile, caFile] = await Promise.all([
    world.file("cert.pem", cert),
    world.file("key.pem", key),
    world.file("ca.pem", authority.caCert),
  ]);
  const server = await startNatsServer({ config: tlsConfig({ certFile, keyFile }) });
  try {
    const env = { FLEETCTL_SERVERS: `tls://localhost:${server.port}`, FLEETCTL_USER: "", FLEETCTL_PASSWORD_FILE: "" };
    const unknown = await world.run(["get", "devices"], { env });
    assertEquals(unknown.code, 5);
    assert(unknown.err.includes("name it with --ca-file"), unknown.err);
    const trusted = await world.run(["--ca-file", caFile, "get", "devices"], { env });
    // Connected: what is missing now is the fleet.
    assert(trusted.err.includes("buckets are made by fleet-operator"), trusted.err);
  } finally {
    await server.stop();
  }
});

fleetctlTest("fits its tables to a terminal and colours them, unless NO_COLOR forbids it", async (world) => {
  const stdin = `{apiVersion: fleet.nationtech.io/v1alpha1, kind: Device, metadata: {name: device-1}, spec: {groups: [${
    Array.from({ length: 12 }, (_, index) => `group-number-${index}`).join(", ")
  }]}}`;
  assertEquals((await world.run(["apply", "-f", "-"], { stdin })).code, 0);
  const command = [Deno.execPath(), ...fleetctlArgs(), "get", "devices"].map((part) => `'${part}'`).join(" ");
  const onTerminal = async (env: Record<string, string>) => {
    const { stdout } = await new Deno.Command("script", {
      args: ["--quiet", "--return", "--command", `stty cols 90 rows 24; ${command}`, "/dev/null"],
      env: world.environment({ env: { TERM: "xterm", ...env } }),
      clearEnv: true,
      stdin: "null",
    }).output();
    return new TextDecoder().decode(stdout).replaceAll("\r", "");
  };
  const colored = await onTerminal({});
  assert(colored.includes("\u001b[1mNAME\u001b[0m"), colored);
  const plain = await onTerminal({ NO_COLOR: "1" });
  assert(!plain.includes("\u001b"), plain);
  const line = plain.split("\n")[1] ?? "";
  assert(line.includes("group-number-0,") && line.includes("…"), plain);
  assertEquals(Math.max(...plain.split("\n").map((text) => text.length)) <= 90, true, plain);
  assertEquals((await world.run(["get", "devices"])).out.includes("group-number-11"), true);
});
