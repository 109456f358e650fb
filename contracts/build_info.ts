/**
 * What the build compiled into this program. In a source tree both are placeholders; the build replaces each literal
 * in the bundle, and fails unless it finds it exactly once (Fleet agent upgrades: the candidate reports the version
 * compiled into it).
 *
 * @module
 */

/** The program's version, a semantic version without a leading `v`; `0.0.0-unbuilt` when run from source. */
export const BUILD_VERSION: string = "0.0.0-unbuilt";

/** How the program was packaged: `source`, `script` (one file run by an installed deno) or `compiled` (DESIGN 11). */
export const BUILD_FORM: string = "source";
