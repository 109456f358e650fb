/**
 * Blanks out what of a TypeScript text is not code, so that a rule does not fire on a comment or a message.
 *
 * @module
 */

const TOKEN_REGEXP = new RegExp(
  [
    String.raw`\/\/[^\n]*`, // line comment
    String.raw`\/\*[\s\S]*?\*\/`, // block comment
    String.raw`"(?:[^"\\\n]|\\[\s\S])*"`,
    String.raw`'(?:[^'\\\n]|\\[\s\S])*'`,
    "`(?:[^`\\\\$]|\\\\[\\s\\S]|\\$(?!\\{))*`", // a template without substitutions
    // A regular expression stands where no value can end; its lookbehind keeps divisions out.
    String
      .raw`(?<=(?:^|[(,=:[!&|?{};+*%~^<>-]|\breturn|\bcase)\s*)\/(?![*/])(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/`,
  ].join("|"),
  "g",
);

/** The text with comments, strings and regular expressions blanked out; line numbers stay. */
export function codeOnly(text: string): string {
  return text.replace(TOKEN_REGEXP, (token) => token.replace(/[^\n]/g, " "));
}
