import { assertEquals } from "@std/assert";
import { decodeProblems } from "../contracts/decode_problems.ts";
import { natsSecretFiles } from "../lib/bus/nats_settings.ts";
import { type AgentBounds, agentConfig, DEFAULT_BOUNDS } from "./config.ts";

const NATS = { servers: ["tls://nats.example:4222"] };
const MINIMAL = { deviceId: "device-1", nats: NATS };
const problems = (value: unknown) => decodeProblems(agentConfig, value).map(({ message }) => message);
const natsProblems = (nats: Record<string, unknown>) => problems({ ...MINIMAL, nats: { ...NATS, ...nats } });

Deno.test("agentConfig fills in its defaults", () => {
  const config = agentConfig(MINIMAL, "");
  assertEquals(config.bounds, DEFAULT_BOUNDS);
  assertEquals(config.logLevel, "info");
  assertEquals(config.paths.agentLock, "/var/lib/harmony-fleet/agent/agent.lock");
  assertEquals(natsSecretFiles(config.nats), []);
});

Deno.test("agentConfig prefixes all managed paths with the root", () => {
  const { paths } = agentConfig({ ...MINIMAL, root: "/srv/device" }, "");
  assertEquals(Object.values(paths).every((path) => path.startsWith("/srv/device/")), true);
});

Deno.test("agentConfig names every error at once", () => {
  const value = {
    deviceId: "Device_1",
    nats: { servers: [], passwordFile: "relative", port: 1 },
    podman: { enabled: true, socket: "podman.sock" },
    logLevel: "loud",
    bounds: { natsRetryWindowMs: 180_001 },
    extra: true,
  };
  assertEquals(problems(value), [
    "deviceId: is not a device id (lower-case letters, digits and inner hyphens)",
    "nats.servers: has 0 items, at least 1",
    "nats.passwordFile: is not an absolute path",
    "podman.socket: is not an absolute path",
    'logLevel: is "loud", must be one of debug, info, warn, error',
    "bounds.natsRetryWindowMs: is 180001, must be from 1 to 180000",
    "nats.port: is not known here, known are servers, user, passwordFile, tokenFile, credentialsFile, caFile",
    "extra: is not known here, known are deviceId, nats, root, podman, logLevel, bounds",
  ]);
});

Deno.test("agentConfig: workloads are managed when Podman is enabled, and only then", () => {
  assertEquals(agentConfig(MINIMAL, "").podman, null);
  assertEquals(agentConfig({ ...MINIMAL, podman: { enabled: false, socket: "/run/p.sock" } }, "").podman, null);
  assertEquals(agentConfig({ ...MINIMAL, podman: { enabled: true } }, "").podman, { socket: undefined });
  const given = { enabled: true, socket: "/run/podman/podman.sock" };
  assertEquals(agentConfig({ ...MINIMAL, podman: given }, "").podman, { socket: given.socket });
});

Deno.test("agentConfig takes one login with all that it needs, or none", () => {
  assertEquals(natsProblems({ user: "u", passwordFile: "/p" }), []);
  assertEquals(natsProblems({ tokenFile: "/t" }), []);
  assertEquals(natsProblems({ credentialsFile: "/c", caFile: "/ca" }), []);
  const half = ["nats.user: stands with passwordFile, and one without the other says nothing"];
  assertEquals(natsProblems({ user: "u" }), half);
  assertEquals(natsProblems({ passwordFile: "/p" }), half);
  const more = ["nats: has more than one login, want one of user with passwordFile, tokenFile, credentialsFile"];
  assertEquals(natsProblems({ user: "u", passwordFile: "/p", tokenFile: "/t" }), more);
  assertEquals(natsProblems({ credentialsFile: "/c", tokenFile: "/t" }), more);
  assertEquals(natsProblems({ user: "", passwordFile: "/p" }), [
    "nats.user: must be a user name of 1 to 128 characters",
  ]);
});

Deno.test("agentConfig takes no login in a URL, and does not repeat it", () => {
  for (const url of ["nats://u:secret@host:4222", "http://host", "host:4222", "nats://host/path", ""]) {
    const [problem = ""] = natsProblems({ servers: [url] });
    assertEquals(problem.startsWith("nats.servers[0]: "), true, problem);
    assertEquals(problem.includes("secret"), false);
  }
  assertEquals(natsProblems({ servers: ["nats://127.0.0.1:4222", "tls://[::1]:4222", "nats://host"] }), []);
});

Deno.test("agentConfig names the files of a login", () => {
  const config = agentConfig({ ...MINIMAL, nats: { ...NATS, user: "u", passwordFile: "/p" } }, "");
  assertEquals(natsSecretFiles(config.nats), [{ field: "nats.passwordFile", path: "/p" }]);
});

for (const [name, limitMs] of Object.entries(DEFAULT_BOUNDS)) {
  Deno.test(`agentConfig lets bounds.${name} be lowered to 1 and never raised above ${limitMs}`, () => {
    const read = (value: number) => problems({ ...MINIMAL, bounds: { [name]: value } });
    for (const value of [1, limitMs - 1, limitMs]) {
      assertEquals(read(value), []);
      const { bounds } = agentConfig({ ...MINIMAL, bounds: { [name]: value } }, "");
      assertEquals(bounds[name as keyof AgentBounds], value);
    }
    for (const value of [0, limitMs + 1]) {
      assertEquals(read(value), [`bounds.${name}: is ${value}, must be from 1 to ${limitMs}`]);
    }
  });
}
