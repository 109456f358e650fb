/**
 * Compiles the version and the form into a bundle by replacing the placeholders of `contracts/build_info.ts`.
 *
 * @module
 */

/** How a program is packaged (DESIGN 11). */
export type BuildForm = "script" | "compiled";

const VERSION_PLACEHOLDER_REGEXP = /(["'`])0\.0\.0-unbuilt\1/g;

/*
 * "source" alone may stand anywhere in a program; the two constants are declared one after the other in one module,
 * and stay so through bundling and minification.
 */
const BOTH_PLACEHOLDERS_REGEXP =
  /(["'`])0\.0\.0-unbuilt\1(\s*[,;]\s*(?:(?:var|let|const)\s+)?[\w$]+\s*=\s*)(["'`])source\3/g;

/* What contracts/formats.ts accepts as a version is checked by the programs; the build only keeps the literal whole. */
const VERSION_REGEXP = /^[0-9A-Za-z][0-9A-Za-z.+-]{0,63}$/;

/**
 * Gives the bundle with version and form compiled in.
 *
 * @throws {Error} when the version has other characters than a semantic version, or the placeholders are not there
 * exactly once: the program would report a version that it was not built as.
 */
export function stampBundle(bundle: string, version: string, form: BuildForm): string {
  if (!VERSION_REGEXP.test(version)) throw new Error(`Cannot build version "${version}": not a semantic version`);
  const versions = bundle.match(VERSION_PLACEHOLDER_REGEXP)?.length ?? 0;
  const pairs = bundle.match(BOTH_PLACEHOLDERS_REGEXP)?.length ?? 0;
  if (versions !== 1 || pairs !== 1) {
    throw new Error(
      `Cannot compile version "${version}" in: the bundle has the version placeholder ${versions} times and ` +
        `version and form together ${pairs} times, wanted once each (the program must use BUILD_VERSION and BUILD_FORM)`,
    );
  }
  return bundle.replace(
    BOTH_PLACEHOLDERS_REGEXP,
    (_all, _quote, between: string) => `"${version}"${between}"${form}"`,
  );
}
