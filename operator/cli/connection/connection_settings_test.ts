import { assertEquals, assertThrows } from "@std/assert";
import { FleetError } from "../../../contracts/errors.ts";
import type { ConnectionFlags } from "../invocation.ts";
import { configFileOf, type ConnectionConfig, connectionSettings } from "./connection_settings.ts";

function settings(
  flags: Partial<ConnectionFlags> = {},
  environment: Record<string, string> = {},
  config: ConnectionConfig | null = null,
) {
  return connectionSettings({ servers: [], ...flags }, (name) => environment[name], config);
}

function problem(...args: Parameters<typeof settings>): string {
  const error = assertThrows(() => settings(...args), FleetError);
  assertEquals(error.code, "E_USAGE");
  return error.message;
}

Deno.test("connectionSettings() has a default for a fleet on one machine", () => {
  assertEquals(settings(), {
    servers: ["nats://127.0.0.1:4222"],
    serversFrom: "the default",
    auth: { kind: "none" },
    timeoutMs: 15_000,
  });
});

Deno.test("connectionSettings() prefers options to variables to the file", () => {
  const environment = { FLEETCTL_SERVERS: "nats://b,tls://c:1", FLEETCTL_CA_FILE: "/b" };
  const config = { servers: ["nats://d"], caFile: "/d" };
  assertEquals(settings({ servers: ["a"], caFile: "/a" }, environment, config).servers, ["nats://a"]);
  assertEquals(settings({ caFile: "/a" }, environment, config).caFile, "/a");
  const second = settings({}, environment, config);
  assertEquals([second.servers, second.serversFrom, second.caFile], [
    ["nats://b", "tls://c:1"],
    "FLEETCTL_SERVERS",
    "/b",
  ]);
  const third = settings({}, { FLEETCTL_SERVERS: "" }, config);
  assertEquals([third.servers, third.serversFrom, third.caFile], [["nats://d"], "the configuration file", "/d"]);
  assertEquals(settings({ timeoutSeconds: 3 }).timeoutMs, 3_000);
});

Deno.test("connectionSettings() takes the way to log in from one place", () => {
  const environment = { FLEETCTL_USER: "u", FLEETCTL_PASSWORD_FILE: "/p" };
  assertEquals(settings({}, environment).auth, { kind: "password", user: "u", password: { file: "/p" } });
  assertEquals(settings({ user: "me" }, environment).auth, { kind: "password", user: "me", password: { file: "/p" } });
  assertEquals(settings({ tokenFile: "/t" }, environment).auth, { kind: "token", token: { file: "/t" } });
  const config = { credentialsFile: "/c" };
  assertEquals(settings({}, {}, config).auth, { kind: "credentials", credentials: { file: "/c" } });
  assertEquals(settings({}, environment, config).auth.kind, "password");
});

Deno.test("connectionSettings() refuses what contradicts itself, and says what to use", () => {
  assertEquals(problem({ user: "u" }), "--user: needs a password too: use --password-file");
  assertEquals(problem({}, { FLEETCTL_PASSWORD_FILE: "/p" }), "FLEETCTL_PASSWORD_FILE: needs a user too: use --user");
  assertEquals(
    problem({ tokenFile: "/t", credentialsFile: "/c" }),
    "--token-file and --creds-file are both given: use one way to log in",
  );
});

Deno.test("connectionSettings() refuses servers that are none, and secrets in them without repeating them", () => {
  assertEquals(problem({ servers: ["http://a"] }), "--server: has the scheme http:, must be nats or tls");
  assertEquals(problem({ servers: ["nats://a b:c"] }), "--server: is not a NATS URL such as nats://127.0.0.1:4222");
  assertEquals(problem({ servers: [","] }), "--server: names no server");
  const secret = problem({}, { FLEETCTL_SERVERS: "nats://me:secret@a" });
  assertEquals(secret.includes("secret"), false);
  assertEquals(secret.startsWith("FLEETCTL_SERVERS: must not contain a user or password"), true);
  const many = (count: number) => Array.from({ length: count }, (_, index) => `h${index}`);
  assertEquals(settings({ servers: many(15) }).servers.length, 15);
  assertEquals(settings({ servers: many(16) }).servers.length, 16);
  assertEquals(problem({ servers: many(17) }), "--server: names 17 servers, at most 16");
});

Deno.test("configFileOf() prefers the option", () => {
  assertEquals(configFileOf({ servers: [], configFile: "a" }, () => "b"), "a");
  assertEquals(configFileOf({ servers: [] }, (name) => name === "FLEETCTL_CONFIG" ? "b" : undefined), "b");
  assertEquals(configFileOf({ servers: [] }, () => undefined), undefined);
});
