import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { assertRejected, assertStrictDecoder } from "../tests/assert/strict_decoder.ts";
import { attempt, newerAttempt, statusRejected, statusRolledBack } from "../tests/golden/upgrade_documents.ts";
import {
  agentUpgradeAttempt,
  agentUpgradeStatus,
  artifactUrl,
  isTerminalPhase,
  type PostMortem,
  postMortem,
  TERMINAL_UPGRADE_PHASES,
  UPGRADE_PHASES,
} from "./agent_upgrade.ts";
import { canonicalDigest } from "./digest.ts";
import {
  ARTIFACT_MAX_BYTES,
  ARTIFACT_URL_MAX_CHARS,
  DETAIL_MAX_CHARS,
  POST_MORTEM_LINE_MAX_CHARS,
  POST_MORTEM_LINES_MAX,
  POST_MORTEM_MAX_BYTES,
  STATUS_TEXT_MAX_CHARS,
  TRANSITIONS_MAX,
} from "./limits.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("attempt: strict in every field", () => assertStrictDecoder(agentUpgradeAttempt, attempt));

pure("attempt: bad content gives the field", () => {
  const bad: [string, unknown, string?][] = [
    ["schema", 0],
    ["attemptId", "0197B3A2-4F6C-7D11-8A55-6F2F4F0D9A11"],
    ["deviceId", "device.1"],
    ["targetVersion", "../1.4.0"],
    ["targetVersion", "1.4.0 "],
    ["targetVersion", `1.0.0-${"a".repeat(59)}`],
    ["arch", "amd64"],
    ["artifact.url", "http://artifacts.example/a"],
    ["artifact.maxBytes", 0],
    ["artifact.maxBytes", ARTIFACT_MAX_BYTES + 1],
    ["artifact.maxBytes", 1.5],
    ["artifact.sha256", "AB".repeat(32)],
    ["releaseIdentity", ""],
  ];
  for (const [path, value] of bad) {
    const [first = "", second] = path.split(".");
    const document = second === undefined
      ? { ...attempt, [first]: value }
      : { ...attempt, artifact: { ...attempt.artifact, [second]: value } };
    assertRejected(agentUpgradeAttempt, document, path, `${path} = ${String(value)}`);
  }
});

pure("attempt: the byte limit may be anything up to the compiled ceiling", () => {
  for (const maxBytes of [1, ARTIFACT_MAX_BYTES - 1, ARTIFACT_MAX_BYTES]) {
    agentUpgradeAttempt({ ...attempt, artifact: { ...attempt.artifact, maxBytes } }, "");
  }
});

pure("attempt: a newer writer's document is read, and its digest binds what is unknown here", () => {
  assertEquals(agentUpgradeAttempt(newerAttempt, ""), agentUpgradeAttempt(attempt, ""));
  assertNotEquals(canonicalDigest(newerAttempt), canonicalDigest(attempt));
});

pure("artifact URL: https and oci in one spelling, without credentials or fragment", () => {
  const start = "https://artifacts.example/";
  const of = (chars: number) => start + "a".repeat(chars - start.length);
  const good = [
    "https://artifacts.example/fleet-agent-v1.4.0?x=1",
    "https://artifacts.example:8443/a@b",
    "https://[::1]:8443/a",
    "https://host",
    "oci://registry.example/fleet/agent:1.4.0",
    `oci://registry.example:5000/fleet/agent@sha256:${"a".repeat(64)}`,
    of(ARTIFACT_URL_MAX_CHARS - 1),
    of(ARTIFACT_URL_MAX_CHARS),
  ];
  for (const url of good) assertEquals(artifactUrl(url, ""), url);
  const bad: [string, string][] = [
    ["http://artifacts.example/a", "has the scheme http:"],
    ["file:///etc/passwd", "has the scheme file:"],
    ["ftp://host/a", "has the scheme ftp:"],
    ["javascript:alert(1)", "has the scheme javascript:"],
    ["HTTPS://host/a", "must begin with https://"],
    ["https:host/a", "must begin with https://"],
    ["https:\\\\host\\a", "must begin with https://"],
    ["oci:host/a", "must begin with oci://"],
    ["oci:///a", "names no host"],
    ["https:///a", "names no host"],
    ["https://", "is not a URL"],
    ["https://host:99999/a", "is not a URL"],
    ["artifacts.example/a", "is not a URL"],
    ["https://user:secret@host/a", "must not contain credentials"],
    ["https://user@host/a", "must not contain credentials"],
    ["https://@host/a", "must not contain credentials"],
    ["https://host/a#b", "must not contain a fragment"],
    ["https://host/a b", "is not an https or oci URL"],
    ["https://host/a\n", "is not an https or oci URL"],
    ["https://höst/a", "is not an https or oci URL"],
    ["", "at least 1 characters"],
    [of(ARTIFACT_URL_MAX_CHARS + 1), `at most ${ARTIFACT_URL_MAX_CHARS}`],
  ];
  for (const [url, problem] of bad) assertRejected(artifactUrl, url, "", url, problem);
  const secret = "https://user:hunter2@host/a";
  try {
    artifactUrl(secret, "url");
  } catch (error) {
    assert(error instanceof Error && !error.message.includes("hunter2"), "a message repeats the credentials");
  }
});

pure("status: strict in every field", () => {
  assertStrictDecoder(agentUpgradeStatus, { ...statusRolledBack, rejectedRevision: 7 });
  assertStrictDecoder(agentUpgradeStatus, { ...statusRolledBack, ...statusRejected }, {
    neededByRule: ["rejectedRevision"],
  });
});

pure("status: names its attempt by UUID or by revision", () => {
  const { attemptId: _, ...nameless } = statusRolledBack;
  assertRejected(agentUpgradeStatus, nameless, "attemptId", "no name", "is missing, and so is rejectedRevision");
  agentUpgradeStatus({ ...nameless, rejectedRevision: 1 }, "");
});

pure("status: transitions, detail and error at their limits", () => {
  const [transition] = statusRolledBack.transitions;
  const transitions = (count: number) => ({ ...statusRolledBack, transitions: Array(count).fill(transition) });
  for (const count of [0, TRANSITIONS_MAX - 1, TRANSITIONS_MAX]) agentUpgradeStatus(transitions(count), "");
  assertRejected(agentUpgradeStatus, transitions(TRANSITIONS_MAX + 1), "transitions", undefined, "at most 16");
  for (const field of ["detail", "error"] as const) {
    const chars = (count: number) => ({ ...statusRolledBack, [field]: "d".repeat(count) });
    for (const count of [0, DETAIL_MAX_CHARS - 1, DETAIL_MAX_CHARS]) agentUpgradeStatus(chars(count), "");
    assertRejected(agentUpgradeStatus, chars(DETAIL_MAX_CHARS + 1), field, field, "at most 1024");
  }
});

pure("post-mortem: lines and status text at their limits", () => {
  const base = { stage: "start", result: "exit-code" } as const;
  const line = (chars: number) => ({ ...base, lastLines: ["x".repeat(chars)] });
  for (const chars of [0, POST_MORTEM_LINE_MAX_CHARS - 1, POST_MORTEM_LINE_MAX_CHARS]) postMortem(line(chars), "");
  assertRejected(postMortem, line(POST_MORTEM_LINE_MAX_CHARS + 1), "lastLines[0]");
  const lines = (count: number) => ({ ...base, lastLines: Array(count).fill("x") });
  for (const count of [0, POST_MORTEM_LINES_MAX - 1, POST_MORTEM_LINES_MAX]) postMortem(lines(count), "");
  assertRejected(postMortem, lines(POST_MORTEM_LINES_MAX + 1), "lastLines");
  const status = (chars: number) => ({ ...base, statusText: "x".repeat(chars) });
  for (const chars of [0, STATUS_TEXT_MAX_CHARS - 1, STATUS_TEXT_MAX_CHARS]) postMortem(status(chars), "");
  assertRejected(postMortem, status(STATUS_TEXT_MAX_CHARS + 1), "statusText");
  for (const exitCode of [0, 255]) postMortem({ ...base, exitCode }, "");
  for (const exitCode of [-1, 256]) assertRejected(postMortem, { ...base, exitCode }, "exitCode");
});

pure("post-mortem: exactly 8 KiB as JSON", () => {
  const sizeBytes = (found: PostMortem) => new TextEncoder().encode(JSON.stringify(found)).byteLength;
  // A control character is one character and six bytes: the limit on characters alone would not do.
  const dense = "\u0001".repeat(POST_MORTEM_LINE_MAX_CHARS);
  const empty: PostMortem = {
    stage: "start",
    result: "signal",
    lastLines: [dense, dense, dense, dense, ""],
    statusText: "",
  };
  const missing = POST_MORTEM_MAX_BYTES - sizeBytes(empty);
  const controls = Math.floor(missing / 6) - 1;
  const of = (extra: number): PostMortem => ({
    ...empty,
    statusText: "\u0001".repeat(controls) + "x".repeat(missing - 6 * controls + extra),
  });
  for (const extra of [-1, 0]) assertEquals(sizeBytes(postMortem(of(extra), "")), POST_MORTEM_MAX_BYTES + extra);
  assertRejected(postMortem, of(1), "", "one byte over", "has 8193 bytes as JSON, at most 8192");
  assertRejected(agentUpgradeStatus, { ...statusRolledBack, postMortem: of(1) }, "postMortem");
});

pure("phases: three of seven are terminal", () => {
  assertEquals(UPGRADE_PHASES.filter(isTerminalPhase), ["complete", "failed", "rollback-failed"]);
  assertEquals([...TERMINAL_UPGRADE_PHASES].length, 3);
});
