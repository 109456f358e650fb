import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { runRound } from "../../bench/bench_round.ts";
import { figuresOf } from "../../bench/figures.ts";

const FIXTURES = "tests/bench/fixtures";

async function withDirectory(test: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    await test(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("a round gives times, aims, sizes and what was left out, and its order can be turned round", () =>
  withDirectory(async (directory) => {
    const round = await runRound(`${FIXTURES}/comparison.ts`, { directory, reversed: false });
    const names = round.times.map(({ group, name, isBaseline }) =>
      `${group}/${name}${isBaseline ? " (baseline)" : ""}`
    );
    assertEquals(names, ["fixture/ours", "fixture/slower (baseline)", "order/ours", "order/other (baseline)"]);
    const { figures, skipped } = figuresOf([round]);
    assertEquals(figures.map(({ name }) => name), ["fixture/slower", "order/other"]);
    const [slower, order] = figures;
    assert((slower?.ratio ?? 1) < 1, `${slower?.ratio}`);
    assertEquals([slower?.isMet, order?.isMet], [true, null]);
    assert((slower?.rateMibPerS ?? 0) > 0);
    assertEquals(skipped.map(({ name, why }) => `${name}: ${why}`), [
      "fixture/absent: absent is not installed",
      "alone/absent: absent is not installed",
    ]);
    const reversed = await runRound(`${FIXTURES}/comparison.ts`, { directory, reversed: true });
    assertEquals(reversed.times.map(({ name }) => name), ["slower", "ours", "other", "ours"]);
  }));

Deno.test("a benchmark that fails and a file that does not load fail the round with their own words", () =>
  withDirectory(async (directory) => {
    const problem = async (file: string) =>
      (await assertRejects(() => runRound(`${FIXTURES}/${file}`, { directory, reversed: false })) as Error).message;
    assertStringIncludes(await problem("failing.ts"), "the disk is gone");
    assertStringIncludes(await problem("broken.ts"), "the server does not start");
    assertStringIncludes(await problem("missing.ts"), "missing.ts");
  }));
