/**
 * Rules on names, sizes and on what the text of a file may use.
 *
 * @module
 */

import { codeOnly } from "./code_only.ts";
import { type ArchitectureRule, isProduct, isTest, type SourceGraph, type Violation } from "./source_graph.ts";

/** Longer files hold more than one concept. */
const MAX_FILE_LINES = 400;

/** The product's only places that print for a person or write the log. */
const CONSOLE_FILES = ["lib/log.ts", "operator/cli/output.ts"];

const EMPTY_NAME_REGEXP = /(?:^|\/)(?:utils?|helpers?|common|misc|shared)(?:\/|(?:_test)?\.ts$)/;
const CONSOLE_REGEXP = /\bconsole\s*(?:\.|\?\.|\[)/;
const IMPURE_REGEXP =
  /\bDeno\b|\bDate\.now\b|\bnew\s+Date\s*(?:\(\s*\)|(?![\s(\w.]))|\bMath\.random\b|\bcrypto\.(?:randomUUID|getRandomValues|subtle)\b|\bperformance\.|\b(?:setTimeout|setInterval|fetch)\s*\(|\bprocess\.(?:env|argv|pid|cwd|hrtime)\b/;

/** One violation for every line of code, without comments and texts, that matches. */
function forEachLine(
  graph: SourceGraph,
  applies: (path: string) => boolean,
  pattern: RegExp,
  message: string,
): Violation[] {
  return graph.filter((file) => applies(file.path)).flatMap((file) =>
    codeOnly(file.text).split("\n").flatMap((line, index) => {
      const found = pattern.exec(line)?.[0];
      return found === undefined
        ? []
        : [{ path: file.path, message: `line ${index + 1}: ${message}: ${found.trim()}` }];
    })
  );
}

/** Small files. */
export const shortFiles: ArchitectureRule = {
  name: `no file is longer than ${MAX_FILE_LINES} lines`,
  check: (graph) =>
    graph.flatMap(({ path, text }) => {
      const lines = text.replace(/\n$/, "").split("\n").length;
      return lines <= MAX_FILE_LINES ? [] : [{ path, message: `${lines} lines, at most ${MAX_FILE_LINES}` }];
    }),
};

/** Files are named for what they hold. */
export const tellingNames: ArchitectureRule = {
  name: "no file or folder has an empty name like utils or helpers",
  check: (graph) =>
    graph.filter(({ path }) => EMPTY_NAME_REGEXP.test(path)).map(({ path }) => ({
      path,
      message: "a name that says nothing about what is inside",
    })),
};

/** Output goes through the log and the output module of the command line. */
export const noConsole: ArchitectureRule = {
  name: "no console in product code outside the log and the output of the command line",
  check: (graph) =>
    forEachLine(
      graph,
      (path) => isProduct(path) && !CONSOLE_FILES.includes(path),
      CONSOLE_REGEXP,
      "console outside the named files",
    ),
};

/** Contracts are values and pure functions. */
export const pureContracts: ArchitectureRule = {
  name: "contracts use no clock, randomness, network or runtime",
  check: (graph) =>
    forEachLine(
      graph,
      (path) => path.startsWith("contracts/") && !isTest(path),
      IMPURE_REGEXP,
      "a contract is not pure",
    ),
};

/** All rules on texts and names. */
export const TEXT_RULES: readonly ArchitectureRule[] = [shortFiles, tellingNames, noConsole, pureContracts];
