import { assert, assertEquals } from "@std/assert";
import { parseCommandLine } from "./command_line.ts";
import { EXIT_MEANINGS } from "./exit_code.ts";
import type { Invocation } from "./invocation.ts";
import { namesOfKind } from "./kind_terms.ts";
import { FLEETCTL_KINDS } from "./manifest/manifest_input.ts";

const parse = (line: string) => parseCommandLine(line.split(" ").filter((part) => part !== ""), "1.2.3", null);

function invocationOf(line: string): Invocation {
  const parsed = parse(line);
  assert(parsed.kind === "run", parsed.kind === "run" ? "" : parsed.text);
  return parsed.invocation;
}

function usageOf(line: string): string {
  const parsed = parse(line);
  assert(parsed.kind === "usage", `${line}: ${JSON.stringify(parsed)}`);
  return parsed.text;
}

Deno.test("parseCommandLine() reads every command", () => {
  const none = { selector: {}, output: "table" };
  const cases: Record<string, unknown> = {
    "apply -f a.yaml -f - --dry-run": { command: "apply", files: ["a.yaml", "-"], dryRun: true, output: "table" },
    "get devices": { command: "get", kind: "Device", names: [], ...none },
    "get release a b -o yaml": {
      command: "get",
      kind: "AgentRelease",
      names: ["a", "b"],
      selector: {},
      output: "yaml",
    },
    "get devices -l site=lab,rack=7 -l empty= -o name": {
      command: "get",
      kind: "Device",
      names: [],
      selector: { site: "lab", rack: "7", empty: "" },
      output: "name",
    },
    "watch releases --output json": { command: "watch", kind: "AgentRelease", names: [], selector: {}, output: "json" },
    "describe device d1": { command: "describe", kind: "Device", names: ["d1"], output: "table" },
    "describe device/d1 device/d2": { command: "describe", kind: "Device", names: ["d1", "d2"], output: "table" },
    "delete agentrelease/x --ignore-not-found": {
      command: "delete",
      kind: "AgentRelease",
      names: ["x"],
      ignoreNotFound: true,
    },
    "release pause x": { command: "change-release", change: "pause", names: ["x"] },
    "release retry x y": { command: "change-release", change: "retry", names: ["x", "y"] },
    "release devices x": { command: "release-devices", name: "x", phase: "targets", ...none },
    "release devices x --phase rolledBack": { command: "release-devices", name: "x", phase: "rolled-back", ...none },
    "release devices x --phase rolled-back": { command: "release-devices", name: "x", phase: "rolled-back", ...none },
    "get deploy": { command: "get", kind: "FleetDeployment", names: [], ...none },
    "describe fleetdeployment/web.eu": {
      command: "describe",
      kind: "FleetDeployment",
      names: ["web.eu"],
      output: "table",
    },
    "deployment devices web": { command: "deployment-devices", name: "web", phase: "targets", ...none },
    "deployment devices web --phase failed -o json": {
      command: "deployment-devices",
      name: "web",
      phase: "failed",
      selector: {},
      output: "json",
    },
  };
  for (const [line, expected] of Object.entries(cases)) assertEquals(invocationOf(line), expected as Invocation, line);
});

Deno.test("parseCommandLine() takes connection options before and after the command", () => {
  const expected = { servers: ["nats://a", "nats://b"], user: "u", passwordFile: "p", timeoutSeconds: 3 };
  for (
    const line of [
      "--server nats://a --server nats://b --user u --password-file p --timeout 3 get devices",
      "get devices --server nats://a --server nats://b --user u --password-file p --timeout 3",
    ]
  ) {
    const parsed = parse(line);
    assert(parsed.kind === "run");
    assertEquals(parsed.connection, expected);
  }
  const parsed = parse("get devices");
  assert(parsed.kind === "run");
  assertEquals(parsed.connection, { servers: [] });
});

Deno.test("parseCommandLine() takes a timeout up to its limit", () => {
  for (const seconds of [1, 2, 3_599, 3_600]) {
    const parsed = parse(`--timeout ${seconds} get devices`);
    assert(parsed.kind === "run" && parsed.connection.timeoutSeconds === seconds);
  }
});

Deno.test("parseCommandLine() says what is wrong with a line, and guesses what was meant", () => {
  const cases: Record<string, string> = {
    "gte devices": "unknown command 'gte'",
    "get devics": "did you mean devices?",
    "get": "missing required argument 'kind'",
    "get devices --selektor a=b": "(Did you mean --selector?)",
    "get devices -l site": "write it as label=value",
    "get devices -l a=b,a=c": "names a twice",
    "get devices -l a=b!": "--selector.a: is not a label value",
    "get devices -o xml": "Allowed choices are table, json, yaml, name",
    "watch devices -o yaml": "Allowed choices are table, json, name",
    "describe device": "no name is given",
    "describe device/": '"": must be a device id',
    "describe device Bad_Name": '"Bad_Name": is not a device id (lower-case letters',
    "get release a..b": '"a..b": is not a resource name',
    "release pause A": '"A": is not a resource name',
    "release devices A": '"A": is not a resource name',
    "describe device/a b": "must be KIND/NAME",
    "delete device/a release/b": "all names must be of one kind",
    "apply": "no file is given",
    "apply -f - -f -": "- is given twice",
    "apply -f a extra": "too many arguments",
    "release devices x --phase fialed": "Did you mean failed?",
    "release devices": "missing required argument 'name'",
    "release": "Usage: fleetctl release",
    "--timeout 0 get devices": "whole seconds from 1 to 3600",
    "--timeout 3601 get devices": "whole seconds from 1 to 3600",
    "--password x get devices": "unknown option '--password'",
    "": "Usage: fleetctl",
  };
  for (const [line, expected] of Object.entries(cases)) {
    const text = usageOf(line);
    assert(text.includes(expected), `${JSON.stringify(line)} gave ${text}`);
    assert(!text.startsWith("error:"), text);
  }
});

Deno.test("parseCommandLine() gives help with examples, and the version", () => {
  const parsed = parse("--version");
  assertEquals(parsed, { kind: "text", text: "1.2.3\n" });
  for (const name of ["apply", "get", "describe", "watch", "delete", "release"]) {
    for (const line of [`${name} --help`, `help ${name}`]) {
      const help = parse(line);
      assert(help.kind === "text" && help.text.includes("Examples:"), line);
      assert(help.text.includes(`fleetctl ${name}`));
    }
  }
  const root = parse("--help");
  assert(root.kind === "text");
  for (const [code, meaning] of EXIT_MEANINGS) assert(root.text.includes(`${code}  ${meaning}`), meaning);
});

Deno.test("parseCommandLine() knows every name of every kind, and helps with those that nobody knows", () => {
  for (const kind of FLEETCTL_KINDS) {
    for (const name of namesOfKind(kind)) {
      const found = invocationOf(`get ${name.toUpperCase()}`);
      assertEquals(found.command === "get" ? found.kind : undefined, kind, name);
    }
  }
  assert(usageOf("get deplyoments").includes("use devices, releases, deployments or tasks; did you mean deployments?"));
  assert(usageOf("deployment devices web --phase faild").includes("Did you mean failed?"));
  assert(usageOf("deployment devices -web-").startsWith("fleetctl: "));
});
