import { assertEquals, assertStringIncludes } from "@std/assert";
import { benchNames, parseBenchArgs } from "./main.ts";

const KNOWN = ["journal_codec", "sha256"];

Deno.test("parseBenchArgs() runs everything three times unless it is told otherwise", () => {
  assertEquals(parseBenchArgs([], KNOWN), { names: KNOWN, rounds: 3, listOnly: false });
  assertEquals(parseBenchArgs(["sha256", "--rounds", "1"], KNOWN), { names: ["sha256"], rounds: 1, listOnly: false });
  assertEquals(parseBenchArgs(["--list"], KNOWN), { names: KNOWN, rounds: 3, listOnly: true });
});

Deno.test("parseBenchArgs() says what is wrong", () => {
  const wrong = (...args: string[]) => String(parseBenchArgs(args, KNOWN));
  assertStringIncludes(wrong("sha1"), 'no benchmark "sha1"; there are: journal_codec, sha256');
  assertStringIncludes(wrong("--colour"), "--colour");
  for (const rounds of ["0", "2", "1.5", "x", "-1", "101"]) assertStringIncludes(wrong(`--rounds=${rounds}`), rounds);
  for (const rounds of ["1", "99"]) assertEquals(typeof parseBenchArgs(["--rounds", rounds], KNOWN), "object");
});

Deno.test("benchNames() takes the benchmark files of this folder", () => {
  const paths = ["bench/main.ts", "bench/main_test.ts", "bench/sha256_bench.ts", "tests/bench/x_bench.ts"];
  assertEquals(benchNames(paths), ["sha256"]);
});
