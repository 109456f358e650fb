import { assert, assertEquals } from "@std/assert";
import { assertRejected } from "../tests/assert/strict_decoder.ts";
import type { Decoder } from "./codec.ts";
import {
  absolutePath,
  architecture,
  binaryForm,
  bounded,
  detail,
  deviceId,
  groupName,
  groups,
  instant,
  labels,
  reason,
  resourceName,
  sha256Hex,
  shortText,
  uuid,
  version,
} from "./formats.ts";
import {
  DETAIL_MAX_CHARS,
  DEVICE_ID_MAX_CHARS,
  GROUP_NAME_MAX_CHARS,
  GROUPS_MAX,
  LABEL_KEY_MAX_CHARS,
  LABEL_VALUE_MAX_CHARS,
  LABELS_MAX,
  PATH_MAX_CHARS,
  RESOURCE_NAME_MAX_CHARS,
  SHORT_TEXT_MAX_CHARS,
  VERSION_MAX_CHARS,
} from "./limits.ts";

function format(name: string, decoder: Decoder<unknown>, good: readonly unknown[], bad: readonly unknown[]): void {
  Deno.test({
    name: `${name}: ${good.length} good and ${bad.length} bad texts`,
    permissions: "none",
    fn() {
      for (const value of good) assertEquals(decoder(value, "f"), value);
      for (const value of [...bad, 1, null, true, {}]) assertRejected(decoder, value, "");
    },
  });
}

/** Texts of one character, one below the limit and at the limit; the one above is bad. */
function lengths(maxChars: number, start = "", character = "a"): { good: string[]; bad: string[] } {
  const of = (chars: number) => start + character.repeat(chars - start.length);
  return { good: [of(maxChars - 1), of(maxChars)], bad: [of(maxChars + 1)] };
}

const id = lengths(DEVICE_ID_MAX_CHARS);
format("device id", deviceId, ["a", "0", "device-1", "a--b", ...id.good], [
  ...["", "-a", "a-", "-", "A", "a.b", "a*", ">", "a b", " a", "a\n", "a/b", "..", "ä", "a\u0000", "_a"],
  ...id.bad,
]);

format("UUID", uuid, [
  "0197b3a2-4f6c-7d11-8a55-6f2f4f0d9a11",
  "5b0f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d",
  "00000000-0000-1000-8000-000000000000",
  "ffffffff-ffff-8fff-bfff-ffffffffffff",
], [
  "",
  "00000000-0000-0000-0000-000000000000",
  "ffffffff-ffff-ffff-ffff-ffffffffffff",
  "5B0F4C1E-7D52-4A7E-9F5E-0D6F1A2B3C4D",
  "5b0f4c1e7d524a7e9f5e0d6f1a2b3c4d",
  "{5b0f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d}",
  "5b0f4c1e-7d52-9a7e-9f5e-0d6f1a2b3c4d",
  "5b0f4c1e-7d52-4a7e-cf5e-0d6f1a2b3c4d",
  "5b0f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4",
  "5b0f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4d0",
  "5b0f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4g",
  " 5b0f4c1e-7d52-4a7e-9f5e-0d6f1a2b3c4",
]);

const longVersion = lengths(VERSION_MAX_CHARS, "1.0.0-");
format("version", version, [
  ...["0.0.0", "1.4.0", "10.20.30", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-0.3.7", "1.0.0-x.7.z.92", "1.0.0-x-y-z.--"],
  ...["1.0.0+20130313144700", "1.0.0-beta+exp.sha.5114f85", "1.0.0+21AF26D3----117B344092BD", "1.0.0+001"],
  ...longVersion.good,
], [
  ...["", "1", "1.2", "1.2.3.4", "v1.2.3", "01.2.3", "1.02.3", "1.2.03", "1.2.3-", "1.2.3+", "1.2.3-01", "1.2.3-a..b"],
  ...[
    "1.2.3-a_b",
    "1.2.3 ",
    " 1.2.3",
    "1.2.3\n",
    "../1.2.3",
    "1.2.3/../..",
    "1.2.3-..",
    "1.2.3+a+b",
    "1.2.3-ä",
    "-1.2.3",
  ],
  ...longVersion.bad,
]);

format("SHA-256", sha256Hex, ["0".repeat(64), "0123456789abcdef".repeat(4)], [
  "",
  "0".repeat(63),
  "0".repeat(65),
  "A".repeat(64),
  "g".repeat(64),
  `0x${"0".repeat(62)}`,
]);

format("instant", instant, ["2026-01-31T12:00:00.000Z", "1970-01-01T00:00:00.000Z", "2024-02-29T23:59:59.999Z"], [
  ...[
    "",
    "2026-02-30T00:00:00.000Z",
    "2025-02-29T00:00:00.000Z",
    "2026-04-31T00:00:00.000Z",
    "2026-13-01T00:00:00.000Z",
  ],
  ...["2026-01-01T24:00:00.000Z", "2026-01-01T00:60:00.000Z", "2026-01-01T00:00:60.000Z", "2026-01-01T00:00:00Z"],
  ...[
    "2026-01-01T00:00:00.000",
    "2026-01-01T00:00:00.000+00:00",
    "2026-01-01 00:00:00.000Z",
    "+002026-01-01T00:00:00.000Z",
  ],
]);

format("architecture", architecture, ["x86_64", "aarch64"], ["", "amd64", "arm64", "X86_64", "armv7l"]);
format("binary form", binaryForm, ["compiled", "script"], ["", "source", "Compiled"]);

const longName = lengths(RESOURCE_NAME_MAX_CHARS);
format("resource name", resourceName, ["a", "agent-1.4", "a.b.c", "0", ...longName.good], [
  ...["", ".", "a.", ".a", "a..b", "-a", "a-", "a.-b", "A", "a_b", "a b", "a/b", "../a", "a\n"],
  ...longName.bad,
]);

const longGroup = lengths(GROUP_NAME_MAX_CHARS);
format("group name", groupName, ["a", "production", "Team_A:eu/west-1.x", ...longGroup.good], [
  ...["", "-a", "a-", "a b", "a,b", "a*", "ä", "a\n"],
  ...longGroup.bad,
]);

format("reason", reason, ["A", "ExitedBeforeReady", "E2", ...lengths(SHORT_TEXT_MAX_CHARS, "A").good], [
  ...["", "a", "exitedBeforeReady", "E_CODE", "Two Words", "A-B", ...lengths(SHORT_TEXT_MAX_CHARS, "A").bad],
]);

const longDetail = lengths(DETAIL_MAX_CHARS);
format("detail", detail, ["", "any text\nin two lines", "größer 😀", ...longDetail.good], [
  ...longDetail.bad,
  "\ud800",
]);

const longShort = lengths(SHORT_TEXT_MAX_CHARS);
format("short text", shortText, ["", "Debian GNU/Linux", "größer 😀", ...longShort.good], [
  ...["a\nb", "\u0000", "\u001b[31m", "a\u007f", "\t", ...longShort.bad],
]);

const longPath = lengths(PATH_MAX_CHARS, "/");
format("absolute path", absolutePath, [
  "/",
  "/a",
  "/usr/lib/harmony-fleet/fleet-agent-v1.4.0",
  "/a..b/.c",
  ...longPath.good,
], [
  ...["", "a", "./a", "../a", "/..", "/a/../b", "/a/.", "/./a", "/a/..", "/a\u0000b"],
  ...longPath.bad,
]);

Deno.test({
  name: "groups: up to the limit",
  permissions: "none",
  fn() {
    const of = (count: number) => Array.from({ length: count }, (_, index) => `group-${index}`);
    for (const count of [0, 1, GROUPS_MAX - 1, GROUPS_MAX]) assertEquals(groups(of(count), "").length, count);
    assertRejected(groups, of(GROUPS_MAX + 1), "", undefined, `at most ${GROUPS_MAX}`);
    assertRejected(groups, ["a", "b c"], "[1]");
  },
});

Deno.test({
  name: "labels: keys, values and their number as Kubernetes takes them",
  permissions: "none",
  fn() {
    const name = "n".repeat(63);
    const prefix = "p".repeat(RESOURCE_NAME_MAX_CHARS);
    const goodKeys = ["a", "device-id", "example.com/site", "A_b.c-d", name, `${prefix}/${name}`];
    for (const key of goodKeys) assertEquals(labels({ [key]: "v" }, ""), { [key]: "v" });
    assertEquals(`${prefix}/${name}`.length, LABEL_KEY_MAX_CHARS);
    const badKeys = ["-a", "a-", "a/b/c", "/a", "a/", "Example.com/a", "a b", `${name}n`, `${prefix}p/n`, "__proto__"];
    for (const key of badKeys) assertRejected(labels, JSON.parse(JSON.stringify({ [key]: "v" })), fieldOf(key), key);
    assertRejected(labels, JSON.parse('{"__proto__":"v"}'), "__proto__");
    const value = lengths(LABEL_VALUE_MAX_CHARS);
    for (const good of ["", "a", "A.b_c-d", ...value.good]) assertEquals(labels({ k: good }, ""), { k: good });
    for (const bad of ["-a", "a-", "a b", "a/b", "ä", ...value.bad, 1, null]) assertRejected(labels, { k: bad }, "k");
    const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));
    for (const count of [0, LABELS_MAX - 1, LABELS_MAX]) labels(many(count), "");
    assertRejected(labels, many(LABELS_MAX + 1), "", undefined, `at most ${LABELS_MAX}`);
  },
});

function fieldOf(key: string): string {
  const shown = key.slice(0, 64);
  return shown.includes(" ") ? JSON.stringify(shown) : shown;
}

Deno.test({
  name: "bounded() keeps what fits, cuts what does not, and never leaves half a character",
  permissions: "none",
  fn() {
    assertEquals(bounded("abcd", 5), "abcd");
    assertEquals(bounded("abcde", 5), "abcde");
    assertEquals(bounded("abcdef", 5), "abcd…");
    assertEquals(bounded("abc😀x", 5), "abc…");
    assertEquals(bounded("ab😀xy", 5), "ab😀…");
    assertEquals(bounded("a".repeat(DETAIL_MAX_CHARS + 1)).length, DETAIL_MAX_CHARS);
    for (let start = 0; start < 6; start++) {
      const cut = bounded(`${"a".repeat(start)}${"😀".repeat(9)}`, 7);
      assert(cut.length <= 7 && cut.isWellFormed(), cut);
    }
  },
});
